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
from evalbot.stats.tails import t_quantile

ENOUGH_DIFFERENT = 20
"""From so many differences on that differ from the most common one, a sample shows its spread."""


CoinTally = Mapping[tuple[float, float], float]
"""How often each difference was seen with each chance of having been drawn."""


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
    """From a simple random sample of each stratum; bounds combine as roots of summed squares.

    Where the strata together have shown their spread around their own most common differences:
    by the t distribution in each that has any, which leaves MOVER to those that a t interval
    would call certain. Else by MOVER in all.
    """
    total = math.fsum(one.population for one in strata)
    by_t = math.fsum(different(one.tally) for one in strata) >= ENOUGH_DIFFERENT
    reaches = [
        t_reach(one.tally, one.population, effect)
        if by_t and different(one.tally)
        else _kept(mover(one.tally, effect), one.tally, one.population)
        for one in strata
    ]
    parts = [(one.population / total, reach) for one, reach in zip(strata, reaches, strict=True)]
    reach = Reach(
        mean=math.fsum(share * one.mean for share, one in parts),
        below=math.sqrt(math.fsum((share * one.below) ** 2 for share, one in parts)),
        above=math.sqrt(math.fsum((share * one.above) ** 2 for share, one in parts)),
    )
    return Difference(reach, "t-stratified" if by_t else "mover-stratified")


def of_weighted(tally: CoinTally, population: float, effect: float = 1.0) -> Difference:
    """From coins of their own, counted by difference and chance (Zrnic and Candès 2024).

    The standard error for this fixed set times t, with as many degrees of freedom as its terms
    count for, less 1: a few of great weight tell little of a spread. No interval before what is
    open (a chance below 1) has shown its spread.
    """
    mean = math.fsum(c * one / chance for (one, chance), c in tally.items()) / population
    seen: dict[float, float] = {}
    for (one, chance), count in tally.items():
        if chance < 1:
            seen[one] = seen.get(one, 0.0) + count
    if different(seen) < ENOUGH_DIFFERENT:
        return Difference(Reach(mean, 0.0, 0.0), None)
    terms = [(c, (1 - chance) * (one / chance) ** 2) for (one, chance), c in tally.items()]
    total = math.fsum(count * term for count, term in terms)
    size = total**2 / math.fsum(count * term**2 for count, term in terms)
    error = math.sqrt(total * effect) / population
    half = t_quantile(0.975, max(1.0, size - 1)) * error
    return Difference(Reach(mean, half, half), "ipw")


def different(tally: Tally) -> float:
    """How many differ from the most common difference."""
    return _size(tally) - max(tally.values(), default=0.0)


def standard_error(tally: Tally, population: float) -> float:
    """sqrt((1 − n/N) · s²/n), s² with n − 1; of at least two."""
    n = _size(tally)
    mean = math.fsum(count * one for one, count in tally.items()) / n
    squares = math.fsum(count * (one - mean) ** 2 for one, count in tally.items())
    return math.sqrt(max(0.0, 1 - n / population) * squares / (n - 1) / n)


def t_reach(tally: Tally, population: float, effect: float = 1.0) -> Reach:
    """Bounds by the t distribution with n − 1 degrees of freedom."""
    n = _size(tally)
    mean = math.fsum(count * one for one, count in tally.items()) / n
    error = standard_error(tally, population) * math.sqrt(effect)
    half = t_quantile(0.975, n - 1) * error
    return Reach(mean, half, half)


def _size(tally: Tally) -> float:
    return math.fsum(tally.values())


def _kept(reach: Reach, tally: Tally, population: float) -> Reach:
    """Less what the reviewed share of the set has made certain."""
    kept = math.sqrt(max(0.0, 1 - _size(tally) / population))
    return Reach(reach.mean, kept * reach.below, kept * reach.above)
