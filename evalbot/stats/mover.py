"""How far the bounds of a mean difference lie from it: MOVER, also for small samples.

The method of variance estimates recovery (Zou and Donner 2008) over the upward and the downward
part of the differences, each with its Wilson bounds and with the correlation of two parts that
exclude each other. Unlike a t interval it never has width 0: ten answers that did not differ do
not show that none would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from evalbot.stats.wilson import wilson

Tally = Mapping[float, float]
"""How often each difference was seen. Counts may be fractions, where they are expected ones."""


class Reach(NamedTuple):
    """A mean difference, and how far below and above it its 95 % bounds lie (0 or more)."""

    mean: float
    below: float
    above: float


def mover(tally: Tally, effect: float = 1.0) -> Reach:
    """Of differences in [−1, 1], at least one; effect: the design effect of clusters, 1 or more."""
    n = math.fsum(tally.values())
    a = math.fsum(count * max(one, 0.0) for one, count in tally.items()) / n
    b = math.fsum(count * max(-one, 0.0) for one, count in tally.items()) / n
    size = n / effect
    up, down = wilson(min(a, 1.0) * size, size), wilson(min(b, 1.0) * size, size)
    assert up is not None
    assert down is not None
    up_variance = math.fsum(c * (max(one, 0.0) - a) ** 2 for one, c in tally.items()) / n
    down_variance = math.fsum(c * (max(-one, 0.0) - b) ** 2 for one, c in tally.items()) / n
    spread = math.sqrt(up_variance * down_variance)
    r = -a * b / spread if spread else 0.0
    return Reach(
        mean=a - b,
        below=_joined(a - up.low, down.high - b, r),
        above=_joined(up.high - a, b - down.low, r),
    )


def _joined(one: float, other: float, r: float) -> float:
    return math.sqrt(max(0.0, one * one + other * other - 2 * r * one * other))
