"""Answers that both a judge and people have a verdict on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalbot.auditing.gathering import NOT_GRADED, AuditedAnswer


class Judged(NamedTuple):
    """An answer that both a judge and people have a verdict on."""

    answer: AuditedAnswer
    human: str
    judge: str


def judged_by(name: str, answers: Iterable[AuditedAnswer]) -> list[Judged]:
    """The answers that this judge and people have a verdict on, none of them stale."""
    found = []
    for answer in answers:
        truth, said = answer.truth, answer.judges.get(name, NOT_GRADED)
        if truth.verdict is None or truth.stale or said.verdict is None or said.stale:
            continue
        found.append(Judged(answer, truth.verdict, said.verdict))
    return found
