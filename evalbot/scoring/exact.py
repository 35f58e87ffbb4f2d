"""Equality after folding."""

from __future__ import annotations

from evalbot.scoring.caps import capping, differences
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import PreparedCase
from evalbot.scoring.nearest import nearest_text
from evalbot.scoring.verdicts import Kind


def exact(case: PreparedCase, answer: Readings) -> Finding:
    """Equal to a reference: top; to an acceptable text: middle; anything else: lowest.

    Where only dropped punctuation makes texts equal and a cap tells them apart (3.5 and 35),
    and where there is no reference to miss, a person decides.
    """
    if found := equal_text(case, answer):
        return found
    if not case.accepted:
        return Finding(None)
    nearest = nearest_text(case, answer)
    if nearest.ratio == 100:
        return nearest._replace(capped=capping(case, nearest.differences))
    return nearest._replace(verdict=case.verdicts.lowest)


def equal_text(case: PreparedCase, answer: Readings, capped: bool = True) -> Finding | None:
    """The verdict of the text the answer equals after folding, references tried first.

    capped: a text told apart by a cap is not equal.
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
            if target.kind is not kind:
                continue
            found = differences(case, reading, target)
            if not (capped and capping(case, found)):
                return Finding(case.verdicts.for_text(kind), target, reading, 100.0, found)
    return None
