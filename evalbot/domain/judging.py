"""What a judge said of an answer, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class TickedCheckpoint(NamedTuple):
    """One line of a rubric as a judge ticked it; met None: it did not say. quote: its evidence."""

    id: str
    met: bool | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """A reply as read: a verdict of the scale, or why there is none and in which words.

    Exactly one of verdict and unscored_reason is given. flags: what a reader should look at;
    none of them changes the verdict.
    """

    verdict: str | None
    unscored_reason: str | None
    reason: str | None = None
    checkpoints: tuple[TickedCheckpoint, ...] = ()
    flags: tuple[str, ...] = ()
    detail: str | None = None
