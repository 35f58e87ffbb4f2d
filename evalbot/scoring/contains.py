"""Answers that hold a text of the case somewhere inside."""

from __future__ import annotations

from evalbot.scoring.caps import capping
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import Form, PreparedCase, Target
from evalbot.scoring.numbers import numbers_differ, numbers_in


def contains(case: PreparedCase, answer: Readings) -> Finding:
    """A telling trap held: lowest; a reference: top; an acceptable text: middle; none: lowest.

    Words and numbers are held whole: 12 is not in 112, cat not in concatenate. Where the
    text is held only as part of another number (5 in 3.5, 三 in 十三), and where there is
    no reference to miss, a person decides.
    """
    reading = answer.whole
    if trap := held_trap(case, reading):
        return Finding(case.verdicts.lowest, trap, reading)
    if not case.accepted:
        return Finding(None)
    cut: Target | None = None
    for target in case.accepted:
        if not _holds(reading, target):
            continue
        if not capping(case, ("numbers",)) or _holds_number_whole(reading, target):
            return Finding(case.verdicts.for_text(target.kind), target, reading)
        cut = cut or target
    if cut:
        return Finding(None, cut, reading, None, ("numbers",), ("numbers",))
    return Finding(case.verdicts.lowest)


def held_trap(case: PreparedCase, answer: Form) -> Target | None:
    """The first trap the answer holds that no accepted text holds."""
    return next((trap for trap in case.telling_traps if _holds(answer, trap)), None)


def _holds(answer: Form, target: Target) -> bool:
    if target.folded not in answer.folded:
        return False
    return target.pattern.search(answer.marked) is not None


def _holds_number_whole(answer: Form, target: Target) -> bool:
    """Whether somewhere the numbers touched by the held text are just its own."""
    numbers = numbers_in(answer.marked, answer.folder.language)
    for place in target.pattern.finditer(answer.marked):
        touched = [n for n in numbers if n.start < place.end() and place.start() < n.end]
        if not numbers_differ(touched, target.numbers):
            return True
    return False
