"""Do the intervals hold what they promise? Coverage over sets whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bench import leanings, planned
from bench.corrections import POLICIES, Cell, Found, grid, simulate
from bench.judged_sets import JUDGES, RATES, SCALES
from evalbot.stats.correction import Label, corrected_rate
from evalbot.stats.wilson import wilson

SEED = 20261130
SETS, DRAWS = 40, 50
SELDOM = 0.05
"""Where fewer draws of a cell than that have an interval, too few are left to judge it by."""

WILSON_RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
WILSON_SIZES = (6, 10, 20, 50, 100, 200, 500, 1000)
Cells = dict[Cell, Found]


def measure(_: Path) -> Iterator[str]:
    yield from wilson_table()
    random = np.random.default_rng(SEED)
    cells = {cell: simulate(cell, SETS, DRAWS, random) for cell in grid()}
    yield from corrected_tables(cells)
    yield from census_table(random)
    yield from planned.table(random)
    yield from leanings.tables(SEED)
    yield from all_cells(cells)


def wilson_table() -> Iterator[str]:
    yield "\n### Wilson's interval, exact\n"
    yield from _head(["rate", *(f"n = {n}" for n in WILSON_SIZES)])
    found = [[wilson_coverage(rate, n) for n in WILSON_SIZES] for rate in WILSON_RATES]
    for rate, row in zip(WILSON_RATES, found, strict=True):
        yield _row([f"{rate}", *(f"{one:.3f}" for one in row)])
    yield f"\nMean {np.mean(found):.3f}, least {np.min(found):.3f}."


def wilson_coverage(rate: float, n: int) -> float:
    """How often Wilson's interval of n yes-or-no answers holds this rate: summed, not drawn."""
    covered = []
    for hits in range(n + 1):
        interval = wilson(hits, n)
        if interval is not None and interval.low <= rate <= interval.high:
            chance = math.lgamma(n + 1) - math.lgamma(hits + 1) - math.lgamma(n - hits + 1)
            covered.append(
                math.exp(chance + hits * math.log(rate) + (n - hits) * math.log1p(-rate))
            )
    return math.fsum(covered)


def corrected_tables(cells: Cells) -> Iterator[str]:
    yield "\n### Corrected rates\n"
    draws = SETS * DRAWS
    yield (
        f"{len(cells)} cells of {draws} draws. Coverage and width: mean over the cells where at "
        f"least {SELDOM * 100:.0f} % of the draws have an interval, of the draws that have one.\n"
    )
    yield from _summary(cells, "judge", JUDGES, lambda cell: cell.judge)
    yield ""
    labels = sorted({cell.labels for cell in cells})
    yield from _summary(cells, "people graded", labels, lambda cell: cell.labels)
    yield ""
    yield from _summary(cells, "scale", list(SCALES), lambda cell: cell.scale)


def _summary(
    cells: Cells, name: str, groups: Sequence[object], group_of: Callable[[Cell], object]
) -> Iterator[str]:
    yield from _head(
        ["policy", name, "cells", "no interval", "mean coverage", "least", "mean width",
         "people alone"]
    )  # fmt: skip
    for policy in POLICIES:
        for group in [*groups, None]:
            mine = [
                one
                for cell, one in cells.items()
                if cell.policy == policy and (group is None or group_of(cell) == group)
            ]
            given = [one for one in mine if one.given >= SELDOM * one.draws]
            row = [policy, "all" if group is None else f"{group}", f"{len(mine)}"]
            row.append(f"{len(mine) - len(given)}")
            if given:
                coverages = [one.covered / one.given for one in given]
                row += [f"{np.mean(coverages):.3f}", f"{min(coverages):.3f}"]
                row.append(f"{np.mean([one.width for one in given]):.3f}")
                row.append(f"{np.mean([one.human_width for one in given]):.3f}")
            else:
                row += ["–"] * 4
            yield _row(row)


def census_table(random: np.random.Generator) -> Iterator[str]:
    """All reviewed, whatever the design: the rate is the people's, and nothing is left open."""
    right = 0
    for _ in range(DRAWS):
        human, judge = random.choice([0.0, 0.5, 1.0], 60), random.choice([0.0, 0.5, 1.0], 60)
        labels = [Label(f, y, 1.0, f"{f}") for f, y in zip(judge, human, strict=True)]
        for design in POLICIES:
            found = corrected_rate(judge.tolist(), labels, design)
            right += found.low == found.high == found.rate == math.fsum(human) / 60
    reviewed = DRAWS * len(POLICIES)
    yield f"\nCensus, all of 60 reviewed: {right} of {reviewed} are people's own rate, width 0."


def all_cells(cells: Cells) -> Iterator[str]:
    yield "\n### Every cell\n"
    yield (
        "Coverage / mean width by true rate. In brackets how many of the draws have an interval, "
        "where that is not all."
    )
    for policy in POLICIES:
        yield f"\n#### {policy}\n"
        yield from _head(["scale", "judge", "N", "n", *(f"{rate}" for rate in RATES)])
        rows: dict[tuple[str, str, int, int], list[str]] = {}
        for cell, found in cells.items():
            if cell.policy == policy:
                key = (cell.scale, cell.judge, cell.population, cell.labels)
                rows.setdefault(key, []).append(_cell(found))
        for key, row in rows.items():
            yield _row([*map(str, key), *row])


def _cell(found: Found) -> str:
    share = found.given / found.draws
    if share == 0:
        return "–"
    if share < SELDOM:
        return f"– ({share * 100:.1f} %)"
    text = f"{found.covered / found.given:.3f} / {found.width:.2f}"
    return text if share == 1 else f"{text} ({share * 100:.0f} %)"


def _head(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield "|" + "---|" * len(names)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
