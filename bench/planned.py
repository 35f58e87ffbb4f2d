"""Are intervals as wide as was foretold, once the further reviews are made?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

import numpy as np

from bench.judged_sets import JUDGES, Kind, chances, kinds
from evalbot.stats.correction import Label, corrected_rate
from evalbot.stats.expected import Judged
from evalbot.stats.planning import planned_width
from evalbot.stats.sampling import (
    Drawn,
    draw_random,
    draw_stratified,
    draw_uncertain,
    joined_probability,
    uncertain_probabilities,
)

FIRST, BUDGETS = 30, (30, 100)
POPULATION, RATES = 400, (0.5, 0.8, 0.9)
SETS = 60


class Compared(NamedTuple):
    """Mean widths over the sets; None where most had no interval."""

    foretold: float | None
    found: float | None


def table(random: np.random.Generator) -> Iterator[str]:
    yield "\n### Planned widths\n"
    yield (
        f"{POPULATION} judged answers with half credit, {FIRST} reviewed, so many more to be "
        f"reviewed. Mean width foretold / found over {SETS} sets.\n"
    )
    columns = [(budget, rate) for budget in BUDGETS for rate in RATES]
    heads = [f"{budget} more, rate {rate}" for budget, rate in columns]
    yield f"| policy | judge | {' | '.join(heads)} |"
    yield "|" + "---|" * (2 + len(columns))
    for policy in ("random", "stratified", "uncertain"):
        for judge in JUDGES:
            cells = [compare(policy, judge, rate, budget, SETS, random) for budget, rate in columns]
            yield f"| {policy} | {judge} | {' | '.join(map(_cell, cells))} |"


def compare(
    policy: str, judge: str, rate: float, budget: int, sets: int, random: np.random.Generator
) -> Compared:
    foretold: list[float | None] = []
    found: list[float | None] = []
    likely = chances("half credit", rate, judge)
    for _ in range(sets):
        counts = random.multinomial(POPULATION, likely)
        every = [kind for kind, n in zip(kinds("half credit"), counts, strict=True)
                 for _ in range(n)]  # fmt: skip
        units = {f"{number}": kind for number, kind in enumerate(every)}
        draws = Random(int(random.integers(2**32)))
        first = {one.unit for one in _draw(units, set(units), policy, FIRST, draws)}
        answers = [
            Judged(f"{kind.judge}", kind.judge, kind.doubt, kind.human if unit in first else None)
            for unit, kind in units.items()
        ]
        foretold.append(planned_width(answers, policy, budget).width)
        second = {one.unit for one in _draw(units, set(units) - first, policy, budget, draws)}
        reviewed = _chances(units, first | second, len(first), budget, policy)
        labels = [
            Label(units[unit].judge, units[unit].human, chance, f"{units[unit].judge}")
            for unit, chance in reviewed.items()
        ]
        rated = corrected_rate([kind.judge for kind in every], labels, policy)
        found.append(None if rated.low is None or rated.high is None else rated.high - rated.low)
    return Compared(_mean(foretold), _mean(found))


def _draw(
    units: Mapping[str, Kind], free: set[str], policy: str, size: int, random: Random
) -> list[Drawn]:
    order = [unit for unit in units if unit in free]
    if policy == "random":
        return draw_random(order, size, random)
    if policy == "stratified":
        return draw_stratified({unit: f"{units[unit].judge}" for unit in order}, size, random)
    scores = {unit: kind.doubt for unit, kind in units.items()}
    return [
        one
        for one in draw_uncertain(scores, _coins(size, len(units), len(free)), random)
        if one.unit in free
    ]


def _coins(size: int, everything: int, free: int) -> int:
    """So many over all bring the wanted number of those that are free."""
    return min(everything, round(size * everything / free))


def _chances(
    units: Mapping[str, Kind], reviewed: set[str], first: int, budget: int, policy: str
) -> dict[str, float]:
    """Of having been taken by either draw."""
    if policy == "uncertain":
        scores = {unit: kind.doubt for unit, kind in units.items()}
        before = uncertain_probabilities(scores, FIRST)
        wanted = _coins(budget, len(units), len(units) - first)
        now = uncertain_probabilities(scores, wanted)
        return {unit: joined_probability(before[unit], now[unit]) for unit in reviewed}
    group = {unit: "" if policy == "random" else f"{kind.judge}" for unit, kind in units.items()}
    sizes, taken = Counter(group.values()), Counter(group[unit] for unit in reviewed)
    return {unit: taken[group[unit]] / sizes[group[unit]] for unit in reviewed}


def _mean(widths: list[float | None]) -> float | None:
    known = [width for width in widths if width is not None]
    return sum(known) / len(known) if 2 * len(known) > len(widths) else None


def _cell(compared: Compared) -> str:
    return " / ".join("–" if width is None else f"{width:.3f}" for width in compared)
