"""Equality after folding."""

from __future__ import annotations

from collections.abc import Callable

from evalbot.scoring.caps import capping, differences
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import Form, PreparedCase, Target
from evalbot.scoring.held import parting
from evalbot.scoring.nearest import nearest_text
from evalbot.scoring.verdicts import Kind

Apart = Callable[[PreparedCase, Form, Target], tuple[str, ...]]


def exact(case: PreparedCase, answer: Readings) -> Finding:
    """Equal to a reference: top; to an acceptable text: middle; anything else: lowest.

    Where only dropped punctuation makes texts equal (3.5 and 35, a.m. and am) or a cap tells
    them apart, and where there is no reference to miss, a person decides.
    """
    if found := equal_text(case, answer, strictly_apart):
        return found
    if not case.accepted:
        return Finding(None)
    nearest = nearest_text(case, answer)
    if nearest.ratio == 100 and nearest.reading and nearest.nearest:
        return nearest._replace(capped=strictly_apart(case, nearest.reading, nearest.nearest))
    return nearest._replace(verdict=case.verdicts.lowest)


def capped_apart(case: PreparedCase, answer: Form, target: Target) -> tuple[str, ...]:
    """The rubric's caps that apply between two texts equal after folding."""
    return capping(case, differences(case, answer, target))


def strictly_apart(case: PreparedCase, answer: Form, target: Target) -> tuple[str, ...]:
    """Those, and `numbers` and `punctuation` whether or not the rubric caps by them."""
    found = differences(case, answer, target)
    reasons = tuple(name for name in found if name == "numbers" or name in case.rule.caps)
    if not reasons and parting(answer.marked) != parting(target.marked):
        return ("punctuation",)
    return reasons


def equal_text(
    case: PreparedCase, answer: Readings, apart: Apart | None = capped_apart
) -> Finding | None:
    """The verdict of the text the answer equals after folding, references tried first.

    apart: what nevertheless tells two such texts apart; they are then not equal.
    """
    hits = [
        (target, reading)
        for reading in answer.each
        for target in case.equals.get(reading.folded, ())
    ]
    if not hits:
        return None
    for kind in Kind:
        for target, reading in hits:
            if target.kind is kind and not (apart and apart(case, reading, target)):
                found = differences(case, reading, target)
                return Finding(case.verdicts.for_text(kind), target, reading, 100.0, found)
    return None
