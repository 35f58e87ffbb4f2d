"""Drawing what is to be reviewed, such that every unit's chance of being drawn is known.

A unit is an answer, or a case with all its answers. Corrected rates weigh by these chances
(statistics.md, f), so they are worked out before anything is drawn, never from what came out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

EVEN_SHARE = 0.5
"""tau of statistics.md: how much of an uncertain draw is spread evenly; no chance is ever 0."""


class Drawn(NamedTuple):
    """A unit that was drawn. probability: its chance beforehand; stratum: what it was drawn in."""

    unit: str
    probability: float
    stratum: str | None = None


def draw_all(units: Sequence[str]) -> list[Drawn]:
    """Every unit."""
    return [Drawn(unit, 1.0) for unit in units]


def draw_random(units: Sequence[str], size: int, random: Random) -> list[Drawn]:
    """So many of them without replacement, each with the same chance."""
    size = min(size, len(units))
    return [Drawn(unit, size / len(units)) for unit in random.sample(list(units), size)]


def draw_stratified(strata: Mapping[str, str], size: int, random: Random) -> list[Drawn]:
    """From each stratum its share of the draw, and at least one of each.

    strata: by unit, its stratum. Within one, each unit has the same chance. Where the draw is
    smaller than the number of strata, every stratum still gives one.
    """
    by_stratum: dict[str, list[str]] = defaultdict(list)
    for unit, stratum in strata.items():
        by_stratum[stratum].append(unit)
    sizes = proportional_shares({name: len(units) for name, units in by_stratum.items()}, size)
    return [
        drawn._replace(stratum=name)
        for name, units in by_stratum.items()
        for drawn in draw_random(units, sizes[name], random)
    ]


def draw_uncertain(scores: Mapping[str, float], size: int, random: Random) -> list[Drawn]:
    """Each unit by a coin of its own, likelier the higher its score; `size` in expectation.

    scores: how unsure its verdict is, 0 or more (Zrnic and Candès 2024).
    """
    chances = uncertain_probabilities(scores, size)
    return [Drawn(unit, chance) for unit, chance in chances.items() if random.random() < chance]


def uncertain_probabilities(scores: Mapping[str, float], size: int) -> dict[str, float]:
    """clip((1 − tau)·size·u/sum(u) + tau·size/N, 0, 1); evenly where no score is above 0."""
    n, total = len(scores), math.fsum(scores.values())
    even = min(1.0, size / n) if n else 0.0
    if total <= 0:
        return dict.fromkeys(scores, even)
    return {
        unit: min(1.0, (1 - EVEN_SHARE) * size * score / total + EVEN_SHARE * size / n)
        for unit, score in scores.items()
    }


def joined_probability(first: float, second: float) -> float:
    """The chance of a unit that two draws, one after the other, could have taken."""
    return 1 - (1 - first) * (1 - second)


def proportional_shares(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """Proportional shares by largest remainder, at least one and at most all of each stratum.

    They sum to size, but for where that is smaller than the number of strata, or than all.
    """
    total = sum(sizes.values())
    exact = {name: size * count / total for name, count in sizes.items()}
    shares = {name: min(sizes[name], max(1, math.floor(exact[name]))) for name in sizes}
    wanted = min(max(size, len(sizes)), total)
    while sum(shares.values()) < wanted:
        open_ = [name for name in sorted(sizes) if shares[name] < sizes[name]]
        shares[max(open_, key=lambda name: exact[name] - shares[name])] += 1
    while sum(shares.values()) > wanted:
        # Small strata were raised to one: the largest surplus of the others pays for it.
        several = [name for name in sorted(sizes) if shares[name] > 1]
        shares[min(several, key=lambda name: exact[name] - shares[name])] -= 1
    return shares
