"""How often the intervals of corrected rates hold the truth, over judged sets of known worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.judged_sets import JUDGES, RATES, SCALES, Kind, chances, kinds
from evalbot.stats.difference import Difference, Stratum, of_random, of_strata, of_weighted
from evalbot.stats.sampling import proportional_shares, uncertain_probabilities
from evalbot.stats.wilson import wilson

SIZES = {60: (10, 20, 50), 150: (10, 20, 50, 100), 400: (10, 20, 50, 100, 200),
         1000: (10, 20, 50, 100, 200, 500)}  # fmt: skip
POLICIES = ("random", "stratified", "uncertain")
NEAR = 1e-9
"""By what a bound may miss the truth in its last bits."""

Counts = tuple[int, ...]


class Cell(NamedTuple):
    policy: str
    scale: str
    judge: str
    population: int
    labels: int
    rate: float


class Found(NamedTuple):
    """Over all draws of a cell. covered and width: of those that have an interval."""

    draws: int
    given: int
    covered: int
    width: float
    human_width: float


def grid() -> Iterator[Cell]:
    for policy in POLICIES:
        for scale in SCALES:
            for judge in JUDGES:
                for population, sizes in SIZES.items():
                    for labels in sizes:
                        for rate in RATES:
                            yield Cell(policy, scale, judge, population, labels, rate)


def simulate(cell: Cell, sets: int, draws: int, random: np.random.Generator) -> Found:
    """So many judged sets of this kind, each reviewed so many times."""
    every = kinds(cell.scale)
    likely = chances(cell.scale, cell.rate, cell.judge)
    given = covered = 0
    width = human_width = 0.0
    for _ in range(sets):
        counts = random.multinomial(cell.population, likely)
        truth = float(counts @ [kind.human for kind in every]) / cell.population
        judged = float(counts @ [kind.judge for kind in every]) / cell.population
        for reach, interval in _reviews(cell, every, counts, draws, random):
            if interval is not None:
                rate = min(1.0, max(0.0, judged + reach.mean))
                low, high = max(0.0, rate - reach.below), min(1.0, rate + reach.above)
                given += 1
                covered += low - NEAR <= truth <= high + NEAR
                width += high - low
        people = wilson(truth * cell.labels, cell.labels)
        assert people is not None
        human_width += people.high - people.low
    return Found(sets * draws, given, covered, width / max(given, 1), human_width / sets)


def _reviews(
    cell: Cell,
    every: Sequence[Kind],
    counts: NDArray[np.int64],
    draws: int,
    random: np.random.Generator,
) -> Iterator[Difference]:
    differences = np.array([kind.human - kind.judge for kind in every])
    if cell.policy == "random":
        taken = random.multivariate_hypergeometric(counts, cell.labels, draws)
        values, rows = _tallied(taken, differences)
        for row in rows:
            yield _from_random(values, row, cell.population)
    elif cell.policy == "stratified":
        judged = np.array([kind.judge for kind in every])
        members = {f"{grade}": judged == grade for grade in sorted(set(judged))}
        sizes = {name: int(counts[mine].sum()) for name, mine in members.items()}
        sizes = {name: size for name, size in sizes.items() if size}
        shares = proportional_shares(sizes, cell.labels)
        strata = [
            _tallied(
                random.multivariate_hypergeometric(counts[members[name]], share, draws),
                differences[members[name]],
            )
            for name, share in shares.items()
        ]
        of_all = tuple(values for values, _ in strata)
        for counted in zip(*(rows for _, rows in strata), strict=True):
            yield _from_strata(of_all, counted, tuple(sizes.values()))
    else:
        chance = _coins(every, counts, cell.labels)
        taken = random.binomial(counts, chance, (draws, len(every)))
        pairs = tuple(zip(differences.tolist(), chance.tolist(), strict=True))
        for row in map(tuple, taken.tolist()):
            yield _from_coins(pairs, row, cell.population)


def _coins(every: Sequence[Kind], counts: NDArray[np.int64], labels: int) -> NDArray[np.float64]:
    units = [number for number, count in enumerate(counts) for _ in range(count)]
    scores = {f"{place}": every[number].doubt for place, number in enumerate(units)}
    found = uncertain_probabilities(scores, labels)
    by_kind = {units[int(place)]: chance for place, chance in found.items()}
    return np.array([by_kind.get(number, 1.0) for number in range(len(every))])


def _tallied(
    taken: NDArray[np.int64], differences: NDArray[np.float64]
) -> tuple[tuple[float, ...], list[Counts]]:
    """By draw, how often each difference was seen."""
    values = sorted(set(differences.tolist()))
    columns = [taken[:, differences == value].sum(axis=1) for value in values]
    return tuple(values), [tuple(row) for row in np.stack(columns, axis=1).tolist()]


@lru_cache(maxsize=1 << 18)
def _from_random(values: tuple[float, ...], counts: Counts, population: int) -> Difference:
    return of_random(_tally(values, counts), population)


@lru_cache(maxsize=1 << 18)
def _from_strata(
    values: tuple[tuple[float, ...], ...], counts: tuple[Counts, ...], sizes: Counts
) -> Difference:
    return of_strata(
        [
            Stratum(_tally(its, seen), size)
            for its, seen, size in zip(values, counts, sizes, strict=True)
        ]
    )


@lru_cache(maxsize=1 << 18)
def _from_coins(
    pairs: tuple[tuple[float, float], ...], counts: Counts, population: int
) -> Difference:
    tally: dict[tuple[float, float], float] = {}
    for pair, count in zip(pairs, counts, strict=True):
        if count:
            tally[pair] = tally.get(pair, 0.0) + count
    return of_weighted(tally, population)


def _tally(values: Sequence[float], counts: Counts) -> dict[float, float]:
    return {value: count for value, count in zip(values, counts, strict=True) if count}
