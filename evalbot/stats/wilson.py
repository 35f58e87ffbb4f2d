"""Wilson's score interval, with partial credit and with clustered items.

Wilson 1927; for fractional successes and clusters see docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


class Interval(NamedTuple):
    """Bounds of a rate, both in [0, 1]."""

    low: float
    high: float


def wilson(successes: float, n: float, z: float = Z_95) -> Interval | None:
    """Interval of successes/n; successes may be a sum of credits, n an effective size.

    None for n = 0. For values in [0, 1] the variance is at most p(1-p), so that with
    partial credit the interval is conservative.
    """
    if n <= 0:
        return None
    p = successes / n
    z2 = z * z
    scale = 1 + z2 / n
    centre = (p + z2 / (2 * n)) / scale
    half = z / scale * math.sqrt(max(p * (1 - p), 0) / n + z2 / (4 * n * n))
    low = 0.0 if p <= 0 else max(0.0, centre - half)
    high = 1.0 if p >= 1 else min(1.0, centre + half)
    return Interval(low, high)


def effective_size(values: Sequence[float], cap: float | None = 1.5) -> float | None:
    """n · p(1-p)/s², with s² the variance around the mean (ddof 0); None without values.

    Smaller spread than a yes-or-no rate has means more information per item. The ratio
    to n is clipped to [1, cap]; cap None leaves it as it is. Without any spread: n.
    """
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    spread = math.fsum((value - mean) ** 2 for value in values) / n
    if spread == 0:
        return float(n)
    ratio = mean * (1 - mean) / spread
    return n * (ratio if cap is None else min(max(ratio, 1.0), cap))


def design_effect(values: Sequence[float], clusters: Sequence[str]) -> float:
    """How much less clustered items tell than independent ones: 1 or more.

    max(1, clustered variance / naive variance), the former with C/(C-1), the latter with
    ddof 0 (Miller 2024, appendix A). Without any spread: n/C. One cluster: n.
    """
    n = len(values)
    sums: dict[str, float] = {}
    mean = math.fsum(values) / n if n else 0.0
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    count = len(sums)
    if n == 0 or count == n:
        return 1.0
    naive = math.fsum((value - mean) ** 2 for value in values) / n**2
    if naive == 0 or count == 1:
        return n / count
    clustered = math.fsum(total**2 for total in sums.values()) / n**2 * count / (count - 1)
    return max(1.0, clustered / naive)


def names_of_clusters(clusters: Sequence[str]) -> list[str]:
    """The same, with a name of its own for each item that is in none ("")."""
    return [f"c:{one}" if one else f"i:{n}" for n, one in enumerate(clusters)]


def wilson_of(values: Sequence[float], clusters: Sequence[str] | None = None) -> Interval | None:
    """Interval of the mean of values in [0, 1]; clusters: which item belongs to which."""
    if not values:
        return None
    effect = 1.0 if clusters is None else design_effect(values, clusters)
    size = len(values) / effect
    return wilson(math.fsum(values) / len(values) * size, size)
