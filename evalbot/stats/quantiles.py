"""Medians and percentiles of measured times, and how sure a median is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb, floor, sqrt

TAIL = 0.025
"""On each side of a 95 % interval."""

NORMAL_FROM = 1000
"""Values from which the binomial is as good as normal, and exact sums would take long."""


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are known; a missing figure is missing, never 0."""
    return [value for value in values if value is not None]


def percentile(values: Sequence[float], q: float) -> float:
    """The q-th percentile, 0 to 100, by linear interpolation (numpy's default).

    Raises ValueError where there are no values.
    """
    if not values:
        raise ValueError("no values have no percentile")
    ordered = sorted(values)
    position = q / 100 * (len(ordered) - 1)
    below = floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def percentile_of_known(values: Iterable[float | None], q: float) -> float | None:
    """The percentile of the values that are known; None where none is."""
    there = known(values)
    return percentile(there, q) if there else None


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median of what the values were drawn from.

    From order statistics, whatever the distribution: the number of values below the median is
    binomial with p = 1/2
    (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). None with fewer than
    six values, where not even the whole span reaches 95 %.
    """
    n = len(values)
    left = _rank(n, TAIL) if n < NORMAL_FROM else floor(n / 2 - sqrt(n))
    if left < 0:
        return None
    ordered = sorted(values)
    return ordered[left], ordered[n - 1 - left]


def _rank(n: int, tail: float) -> int:
    """The last rank, from 0, below which the binomial leaves no more than this tail; -1: none."""
    rank, cumulated = -1, comb(n, 0) / 2**n
    while cumulated <= tail:
        rank += 1
        cumulated += comb(n, rank + 1) / 2**n
    return rank
