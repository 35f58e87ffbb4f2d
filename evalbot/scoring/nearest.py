"""The accepted text with the best character ratio."""

from __future__ import annotations

from rapidfuzz import fuzz

from evalbot.scoring.caps import capping, differences
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import Form, PreparedCase, Target


def nearest_text(case: PreparedCase, answer: Readings) -> Finding:
    """The nearest reference or acceptable text, without a verdict.

    The ratio is 100·2·LCS/(|a|+|b|) over folded characters (Indel similarity, rapidfuzz);
    never a partial or token ratio, which reach 100 on texts of another meaning. Among
    equally near texts one without a cap wins, then a reference, then the first by its text.
    """
    best = -1.0
    ties: list[tuple[Target, Form]] = []
    for reading in answer.each:
        folded = reading.folded
        for target in case.accepted:
            ratio = fuzz.ratio(folded, target.folded)
            if ratio > best:
                best, ties = ratio, [(target, reading)]
            elif ratio == best:
                ties.append((target, reading))
    if not ties:
        return Finding(None)
    target, reading = ties[0]
    found = differences(case, reading, target)
    for other, other_reading in ties[1:]:
        if not capping(case, found):
            break
        other_found = differences(case, other_reading, other)
        if not capping(case, other_found):
            target, reading, found = other, other_reading, other_found
    return Finding(None, target, reading, best, found)
