"""The three verdicts automatic scorers give, by the words of a rubric's scale."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from evalbot.domain.rubrics import Rubric


class Kind(StrEnum):
    """What a text of a case is to its answers."""

    REFERENCE = "reference"
    ACCEPTABLE = "acceptable"
    TRAP = "trap"


class Verdicts(NamedTuple):
    """top and lowest end the scale; middle is None where the scale has no such step."""

    top: str
    middle: str | None
    lowest: str

    def for_text(self, kind: Kind) -> str | None:
        """The verdict of an answer that says just what a text of this kind says."""
        match kind:
            case Kind.REFERENCE:
                return self.top
            case Kind.ACCEPTABLE:
                return self.middle
            case Kind.TRAP:
                return self.lowest


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
