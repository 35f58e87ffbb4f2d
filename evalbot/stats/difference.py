"""Difference estimators: by how much people differ from a judge, over all it has judged.

Each takes what a sample of a known design showed, counted by difference (human − judge), and gives
the mean difference over the whole set with how far its 95 % bounds lie from it. The set is fixed:
what is reviewed is certain, and only the rest is estimated (finite-population correction; Särndal,
Swensson and Wretman 1992).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbot.stats.mover import Reach, Tally, mover
from evalbot.stats.wilson import Z_95

ENOUGH_DIFFERENT = 20
"""From so many differences on that differ from the most common one, a sample shows its spread."""


ROUNDING = 1e-6
"""By what the size of a stratum, a sum of 1/probability, may miss a whole number."""


class Stratum(NamedTuple):
    """What was seen in one stratum, and how many answers it has."""

    tally: Tally
    population: float


class Difference(NamedTuple):
    """A mean difference and its bounds; interval: how they were found, None: there are none."""

    reach: Reach
    interval: str | None


def of_random(tally: Tally, population: float, effect: float = 1.0) -> Difference:
    """From a simple random sample of so many answers."""
    if different(tally) >= ENOUGH_DIFFERENT:
        return Difference(t_reach(tally, population, effect), "t")
    return Difference(_kept(mover(tally, effect), tally, population), "mover")


def of_strata(strata: Sequence[Stratum], effect: float = 1.0) -> Difference:
    """From a simple random sample of each stratum.

    Where every stratum that is not reviewed whole has shown its spread, by the t distribution;
    else the bounds of the strata's MOVER intervals are combined.
    """
    total = math.fsum(one.population for one in strata)
    shares = [one.population / total for one in strata]
    by_t = all(
        different(one.tally) >= ENOUGH_DIFFERENT
        for one in strata
        if one.population - _size(one.tally) > ROUNDING
    )
    reaches = [
        t_reach(one.tally, one.population, effect)
        if by_t
        else _kept(mover(one.tally, effect), one.tally, one.population)
        for one in strata
    ]
    parts = list(zip(shares, reaches, strict=True))
    reach = Reach(
        mean=math.fsum(share * one.mean for share, one in parts),
        below=math.sqrt(math.fsum((share * one.below) ** 2 for share, one in parts)),
        above=math.sqrt(math.fsum((share * one.above) ** 2 for share, one in parts)),
    )
    return Difference(reach, "t-stratified" if by_t else "mover-stratified")


def of_weighted(
    tally: Mapping[tuple[float, float], float], population: float, effect: float = 1.0
) -> Difference:
    """From coins of their own, counted by difference and chance (Zrnic and Candès 2024).

    ±z times the standard error for this fixed set, but no interval before the spread has shown.
    """
    seen: dict[float, float] = {}
    for (one, _), count in tally.items():
        seen[one] = seen.get(one, 0.0) + count
    mean = math.fsum(c * one / chance for (one, chance), c in tally.items()) / population
    half = Z_95 * weighted_error(tally, population) * math.sqrt(effect)
    enough = different(seen) >= ENOUGH_DIFFERENT
    return Difference(Reach(mean, half, half), "ipw" if enough else None)


def weighted_error(tally: Mapping[tuple[float, float], float], population: float) -> float:
    """Standard error for this fixed set: sqrt(sum of (1 − pi)/pi² · difference²)/N."""
    squares = (c * (1 - chance) * (one / chance) ** 2 for (one, chance), c in tally.items())
    return math.sqrt(math.fsum(squares)) / population


def different(tally: Tally) -> float:
    """How many differ from the most common difference."""
    return _size(tally) - max(tally.values())


def standard_error(tally: Tally, population: float) -> float:
    """sqrt((1 − n/N) · s²/n), s² with n − 1; of at least two."""
    n = _size(tally)
    mean = math.fsum(count * one for one, count in tally.items()) / n
    squares = math.fsum(count * (one - mean) ** 2 for one, count in tally.items())
    return math.sqrt(max(0.0, 1 - n / population) * squares / (n - 1) / n)


def t_reach(tally: Tally, population: float, effect: float = 1.0) -> Reach:
    """Bounds by the t distribution with n − 1 degrees of freedom."""
    from scipy.special import stdtrit

    n = _size(tally)
    mean = math.fsum(count * one for one, count in tally.items()) / n
    error = standard_error(tally, population) * math.sqrt(effect)
    half = float(stdtrit(n - 1, 0.975)) * error
    return Reach(mean, half, half)


def _size(tally: Tally) -> float:
    return math.fsum(tally.values())


def _kept(reach: Reach, tally: Tally, population: float) -> Reach:
    """Less what the reviewed share of the set has made certain."""
    kept = math.sqrt(max(0.0, 1 - _size(tally) / population))
    return Reach(reach.mean, kept * reach.below, kept * reach.above)
