"""The three verdicts automatic scorers give, by the words of a rubric's scale."""

from __future__ import annotations

from typing import NamedTuple

from evalbot.domain.rubrics import Rubric


class Verdicts(NamedTuple):
    """top and lowest end the scale; middle is None where the scale has no such step."""

    top: str
    middle: str | None
    lowest: str


def verdicts_of(rubric: Rubric) -> Verdicts:
    """The middle is the step called `acceptable`, else the best with credit between the ends."""
    top, *between, lowest = rubric.scale
    words = [step.verdict for step in between]
    if "acceptable" in words:
        return Verdicts(top.verdict, "acceptable", lowest.verdict)
    if top.credit is None or lowest.credit is None:
        return Verdicts(top.verdict, None, lowest.verdict)
    partial = (
        step.verdict
        for step in between
        if step.credit is not None and lowest.credit < step.credit < top.credit
    )
    return Verdicts(top.verdict, next(partial, None), lowest.verdict)
