"""Answers that hold a text of the case somewhere inside."""

from __future__ import annotations

from evalbot.scoring.denial import denials_in
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import Form, PreparedCase, Target
from evalbot.scoring.held import doubt


def contains(case: PreparedCase, answer: Readings) -> Finding:
    """A telling trap held: lowest; a reference: top; an acceptable text: middle; none: lowest.

    A trap beside a text that is held is left for a person: which of them is meant, and which
    only spoken of, cannot be told ("[1, 2], not [2, 1]").
    Words and numbers are held whole: 12 is not in 112, cat not in concatenate. A person
    decides where the text is held only by dropped punctuation (am for a.m.) or as part of
    another number (5 in 3.5, 三 in 十三), where the rubric caps negations and the answer
    denies more than the text does, and where there is no reference to miss.
    """
    reading = answer.whole
    if trap := held_trap(case, reading):
        if any(_holds(reading, target) for target in case.accepted):
            return Finding(None, trap, reading, None, ("trap",), ("trap",))
        return Finding(case.verdicts.lowest, trap, reading)
    if not case.accepted:
        return Finding(None)
    doubted: Finding | None = None
    for target in case.accepted:
        if not _holds(reading, target):
            continue
        reason = doubt(reading, target) or _denied(case, reading, target)
        if reason is None:
            return Finding(case.verdicts.for_text(target.kind), target, reading)
        doubted = doubted or Finding(None, target, reading, None, (reason,), (reason,))
    return doubted or Finding(case.verdicts.lowest)


def held_trap(case: PreparedCase, answer: Form) -> Target | None:
    """The first trap the answer holds that no accepted text holds."""
    return next((trap for trap in case.telling_traps if _holds(answer, trap)), None)


def _holds(answer: Form, target: Target) -> bool:
    if target.folded not in answer.folded:
        return False
    return target.pattern.search(answer.marked) is not None


def _denied(case: PreparedCase, answer: Form, target: Target) -> str | None:
    if "negation" not in case.rule.caps:
        return None
    said, own = (denials_in(form.plain, form.folder.language) for form in (answer, target))
    return None if said == own else "negation"
