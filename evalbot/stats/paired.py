"""Two models on the same cases: an exact test, corrections for many tests, cases needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from evalbot.stats.units import common_denominator

EXACT_UP_TO = 2_000
"""Nonzero differences; above, exact sums take seconds and the normal approximation is as good."""

MOST_STEPS = 1_000_000
"""Of the lattice that the sum of the differences lives on."""

ROUNDED_UP_TO = 100
"""Nonzero differences that share no scale, which are rounded to ROUNDED_STEPS in all."""

ROUNDED_STEPS = 100_000

NOISE = 1e-9
"""Differences this small are none."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """p: two-sided. method: "exact", or "normal" for the approximation."""

    p: float
    method: str


def sign_flip(differences: Sequence[float]) -> SignFlip | None:
    """Could these paired differences come from models that are alike? None without any.

    The sign of each difference is a coin: p = P(|sum of ±d| >= |sum of d|), over all 2^n signs
    by convolution, without random numbers. With differences of −1, 0 and 1 it is McNemar's
    exact test. Ones that share no scale are rounded, and sums that this could make unlike count
    as alike: p is not too small for it. More than 2,000 nonzero differences, or 100
    that share no scale, get the normal approximation with the same variance, sum of d².
    """
    if not differences:
        return None
    apart = [one for one in differences if abs(one) > NOISE]
    if not apart:
        return SignFlip(1.0, "exact")
    steps = _steps(apart)
    if steps is not None:
        return SignFlip(_exact(steps), "exact")
    if len(apart) <= ROUNDED_UP_TO:
        unit = math.fsum(map(abs, apart)) / ROUNDED_STEPS
        # Sums of rounded ones go astray as random walks do.
        slack = 2 * math.isqrt(len(apart)) + 1
        return SignFlip(_exact([round(one / unit) for one in apart], slack), "exact")
    spread = math.sqrt(math.fsum(one * one for one in apart))
    return SignFlip(math.erfc(abs(math.fsum(apart)) / spread / math.sqrt(2)), "normal")


def _steps(differences: Sequence[float]) -> list[int] | None:
    """The same in whole steps of the scale that they share; None without one, or one too fine."""
    if len(differences) > EXACT_UP_TO:
        return None
    denominator = common_denominator(differences)
    if denominator is None:
        return None
    steps = [round(one * denominator) for one in differences]
    shared = math.gcd(*steps)
    steps = [step // shared for step in steps]
    return steps if sum(map(abs, steps)) <= MOST_STEPS else None


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p in the given order: the largest so far of (m − rank + 1)·p (Holm 1979)."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_yekutieli(ps: Sequence[float], q: float = 0.05) -> list[bool]:
    """Which are rejected at false discovery rate q, however the tests depend on each other.

    All up to the largest k with p_(k) <= k·q / (m·(1 + 1/2 + … + 1/m)).
    """
    m = len(ps)
    harmonic = math.fsum(1 / k for k in range(1, m + 1))
    order = sorted(range(m), key=ps.__getitem__)
    last = max(
        (k for k, place in enumerate(order, 1) if ps[place] <= k * q / (m * harmonic)), default=0
    )
    rejected = set(order[:last])
    return [place in rejected for place in range(m)]


def fewest_one_way(pairs: int, alpha: float = 0.05) -> int:
    """How many cases must differ, all in one direction, for p <= alpha with this many pairs.

    pairs: of models that are tested, at least 1. With fewer cases that differ, no pair can be
    told apart, whatever the verdicts.
    """
    cases = 1
    while 2.0 ** (1 - cases) > alpha / pairs:
        cases += 1
    return cases


def cases_needed(
    differences: Sequence[float], pairs: int = 1, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Cases in all for a difference of this mean and spread to be found with this power.

    (z_{1−alpha/(2·pairs)}·sqrt(mean d²) + z_power·s)² / mean², rounded up, with s² = mean d² −
    mean²: without a true difference the mean has the spread sqrt(mean d²), with it s. For
    verdicts of two kinds this is Connor's size for McNemar's test (Biometrics 43, 1987). Never
    less than fewest_one_way(pairs). None where the mean is 0, or with fewer than two cases.
    """
    n = len(differences)
    mean = math.fsum(differences) / n if n else 0.0
    if n < 2 or abs(mean) < 1e-12:
        return None
    square = math.fsum(one * one for one in differences) / n
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / (2 * pairs)) * math.sqrt(square)
    reach += normal.inv_cdf(power) * math.sqrt(max(0.0, square - mean * mean))
    return max(math.ceil(reach * reach / (mean * mean)), fewest_one_way(pairs, alpha))


def _exact(steps: Sequence[int], slack: int = 0) -> float:
    """P(|sum of ±step| >= |sum of steps|), from the sums of those that fall on the plus side.

    slack: by so many steps a sum on the plus side may fall short, and still count.
    """
    import numpy as np

    total, observed = sum(map(abs, steps)), abs(sum(steps))
    if observed <= 2 * slack:
        return 1.0
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    reached = 0
    for step in sorted(map(abs, steps)):
        old = chances[: reached + 1] / 2
        chances[: reached + 1] = old
        reached += step
        chances[step : reached + 1] += old
    return min(1.0, 2 * float(chances[(total + observed) // 2 - slack :].sum()))
