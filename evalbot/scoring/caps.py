"""Differences that no ratio outweighs: numbers, negations, critical terms."""

from __future__ import annotations

from collections.abc import Iterable

from evalbot.scoring.forms import Form, PreparedCase
from evalbot.scoring.numbers import numbers_differ

FLAGS = {
    "numbers": "number_changed",
    "negation": "negation_changed",
    "critical": "critical_missing",
}
"""The flag in the evidence for each cap; dropped punctuation has none."""


def critical_missing(answer: Form, critical: Iterable[str], target: Form) -> tuple[str, ...]:
    """Critical terms (in the form of Form.termed) the target holds and the answer does not."""
    return tuple(term for term in critical if term in target.termed and term not in answer.termed)


def differences(case: PreparedCase, answer: Form, target: Form) -> tuple[str, ...]:
    """Names of the caps that apply between an answer and a text of the case.

    All three are looked for, whether or not the rubric caps by them: flags tell them anyway.
    """
    if answer.text == target.text:
        return ()
    found = []
    if numbers_differ(answer.numbers, target.numbers):
        found.append("numbers")
    if answer.negations != target.negations:
        found.append("negation")
    if critical_missing(answer, case.critical, target):
        found.append("critical")
    return tuple(found)


def capping(case: PreparedCase, found: Iterable[str]) -> tuple[str, ...]:
    """Those of the differences that the rubric caps by."""
    return tuple(name for name in found if name in case.rule.caps)
