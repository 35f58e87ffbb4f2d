"""How far credits move between two gradings of the same answers, with an interval.

MOVER, the method of variance estimates recovery (Zou and Donner 2008), over the upward and the
downward part of the differences, each with its Wilson bounds and with the correlation of two
parts that exclude each other. Unlike a t interval it never has width 0: ten answers that did
not move do not show that none would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.stats.wilson import wilson_of


@dataclass(frozen=True, slots=True)
class Shift:
    """Mean of after − before, in credits, with its 95 % interval."""

    n: int
    mean: float
    low: float
    high: float


def shift(differences: Sequence[float], kept: float = 1.0) -> Shift | None:
    """The mean of differences in [−1, 1]; None of none.

    kept: sqrt(1 − n/N) where they are a sample of N without replacement (statistics.md, f).
    """
    n = len(differences)
    if not n:
        return None
    up = [max(one, 0.0) for one in differences]
    down = [max(-one, 0.0) for one in differences]
    a, b = math.fsum(up) / n, math.fsum(down) / n
    above, below = wilson_of(up), wilson_of(down)
    assert above is not None
    assert below is not None
    spread = math.sqrt(_variance(up, a) * _variance(down, b))
    r = -a * b / spread if spread else 0.0
    low = _reach(a - above.low, below.high - b, r)
    high = _reach(above.high - a, b - below.low, r)
    mean = a - b
    return Shift(n, mean, max(-1.0, mean - kept * low), min(1.0, mean + kept * high))


def _variance(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values) / len(values)


def _reach(one: float, other: float, r: float) -> float:
    return math.sqrt(max(0.0, one * one + other * other - 2 * r * one * other))
