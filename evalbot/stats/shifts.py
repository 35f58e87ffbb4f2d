"""How far credits move between two gradings of the same answers, with an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.stats.mover import mover


@dataclass(frozen=True, slots=True)
class Shift:
    """Mean of after − before, in credits, with its 95 % interval."""

    n: int
    mean: float
    low: float
    high: float


def shift(differences: Sequence[float], kept: float = 1.0) -> Shift | None:
    """The mean of differences in [−1, 1], with its MOVER interval; None of none.

    kept: sqrt(1 − n/N) where they are a sample of N without replacement.
    """
    if not differences:
        return None
    mean, below, above = mover(Counter(differences))
    return Shift(
        n=len(differences),
        mean=mean,
        low=max(-1.0, mean - kept * below),
        high=min(1.0, mean + kept * above),
    )
