"""How far a judge and people agree, by measures that forgive chance in different ways.

Cohen 1960 and 1968 (kappa), Krippendorff (alpha), Gwet (AC1, AC2). None of them stands alone:
where nearly all answers are right, kappa is low although nearly all verdicts are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTHING = "no answer has both verdicts"
NO_CREDIT = "a verdict of the scale has no credit, so verdicts have no distance"
ONE_CREDIT = "all verdicts of the scale have the same credit, so they have no distance"
NO_VARIATION = "undefined without variation: both gave one and the same verdict throughout"
SAME_CREDIT = "undefined without variation: all verdicts that were given have the same credit"
ONE_LABEL = "the scale has one verdict only"

WEIGHTED = ("kappa_linear", "kappa_quadratic", "alpha_interval", "ac2_linear", "ac2_quadratic")
PLAIN = ("kappa", "alpha_nominal", "ac1")


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each pair of verdicts was given; counts: rows human, columns judge."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Measures of agreement over n answers; None where undefined, reasons by field name.

    raw: share of equal verdicts. The linear and quadratic ones, and alpha_interval, count a
    difference by the distance of the credits. None is above 1; AC2 can fall below −1 where two
    hardly ever agree.
    """

    n: int
    raw: float | None
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None
    alpha_nominal: float | None
    alpha_interval: float | None
    ac1: float | None
    ac2_linear: float | None
    ac2_quadratic: float | None
    reasons: Mapping[str, str]


def confusion(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> Confusion:
    """The table of (human, judge) verdicts. Raises ValueError for one that is not a label."""
    counts = Counter(pairs)
    strange = {one for pair in counts for one in pair} - set(labels)
    if strange:
        raise ValueError(f"not on the scale: {', '.join(sorted(strange))}")
    return Confusion(
        tuple(labels), tuple(tuple(counts[human, judge] for judge in labels) for human in labels)
    )


def agreement(table: Confusion, credits: Sequence[float | None] | None) -> Agreement:  # noqa: A002
    """All measures of a table. credits: of its labels, in their order.

    A weighted measure's distance is |credit − credit| by the range of the scale, which is
    |i − j|/(q − 1) for evenly spaced ones; "quadratic" squares it.
    """
    n, q = sum(map(sum, table.counts)), len(table.labels)
    if not n:
        return _filled(0, {}, dict.fromkeys(("raw", *PLAIN, *WEIGHTED), NOTHING))
    apart = [[Fraction(i != j) for j in range(q)] for i in range(q)]
    values: dict[str, float | None] = {
        "raw": sum(table.counts[i][i] for i in range(q)) / n,
        "kappa": _kappa(table, apart),
        "alpha_nominal": alpha(_raters(table, table.labels), "nominal"),
        "ac1": _gwet(table, apart),
    }
    reasons = {name: NO_VARIATION for name in ("kappa", "alpha_nominal") if values[name] is None}
    if values["ac1"] is None:
        reasons["ac1"] = ONE_LABEL
    known = [one for one in credits or () if one is not None]
    if len(known) < q or len(set(known)) < 2:
        why = NO_CREDIT if len(known) < q else ONE_CREDIT
        return _filled(n, values, reasons | dict.fromkeys(WEIGHTED, why))
    span = Fraction(max(known)) - Fraction(min(known))
    linear = [[abs(Fraction(a) - Fraction(b)) / span for b in known] for a in known]
    quadratic = [[one * one for one in row] for row in linear]
    values |= {
        "kappa_linear": _kappa(table, linear),
        "kappa_quadratic": _kappa(table, quadratic),
        "alpha_interval": alpha(_raters(table, known), "interval"),
        "ac2_linear": _gwet(table, linear),
        "ac2_quadratic": _gwet(table, quadratic),
    }
    why = SAME_CREDIT if values["kappa"] is not None else NO_VARIATION
    reasons |= {name: why for name in WEIGHTED if values[name] is None}
    return _filled(n, values, reasons)


def alpha(ratings: Sequence[Sequence[float | str | None]], level: str) -> float | None:
    """Krippendorff's alpha of raters × items; None stands for a missing rating.

    level: "nominal", or "interval" for numbers. None where no item has two ratings, or all
    ratings that can be paired are the same.
    """
    if level not in ("nominal", "interval"):
        raise ValueError(f"no level of measurement: {level}")
    import numpy as np
    from krippendorff import alpha as krippendorff_alpha

    domain = sorted({one for row in ratings for one in row if one is not None}, key=_numbers_first)
    number = {one: place for place, one in enumerate(domain)}
    counts = np.zeros((len(ratings[0]) if ratings else 0, len(domain)), dtype=np.int64)
    for row in ratings:
        _count(counts, np.array([-1 if one is None else number[one] for one in row], dtype=np.intp))
    counts = counts[counts.sum(axis=1) > 1]
    there = counts.any(axis=0)
    if there.sum() < 2:
        return None
    values = np.array(domain if level == "interval" else range(len(domain)), dtype=np.float64)
    return float(
        krippendorff_alpha(
            value_counts=counts[:, there],
            value_domain=values[there],
            level_of_measurement="interval" if level == "interval" else "nominal",
        )
    )


def _count(counts: NDArray[np.int64], row: NDArray[np.intp]) -> None:
    """Adds one rater's ratings; −1 is a missing one."""
    import numpy as np

    if len(row) != len(counts):
        raise ValueError("every rater needs a place for every item")
    rated = np.flatnonzero(row >= 0)
    counts[rated, row[rated]] += 1


def _numbers_first(rating: float | str) -> tuple[bool, float, str]:
    return (True, 0.0, rating) if isinstance(rating, str) else (False, rating, "")


def _kappa(table: Confusion, distance: Sequence[Sequence[Fraction]]) -> float | None:
    """1 − observed/expected distance; None where none is to be expected."""
    rows = [sum(row) for row in table.counts]
    columns = [sum(column) for column in zip(*table.counts, strict=True)]
    observed = expected = Fraction(0)
    for i, row in enumerate(table.counts):
        for j, count in enumerate(row):
            observed += distance[i][j] * count
            expected += distance[i][j] * rows[i] * columns[j]
    return float(1 - observed * sum(rows) / expected) if expected else None


def _gwet(table: Confusion, distance: Sequence[Sequence[Fraction]]) -> float | None:
    """AC1, or AC2 with weights 1 − distance (Gwet 2008); None with fewer than two labels."""
    n, q = sum(map(sum, table.counts)), len(table.labels)
    if q < 2:
        return None
    columns = [sum(column) for column in zip(*table.counts, strict=True)]
    both = [Fraction(sum(row) + columns[i], 2 * n) for i, row in enumerate(table.counts)]
    weights = [[1 - one for one in row] for row in distance]
    seen = sum(weights[i][j] * table.counts[i][j] for i in range(q) for j in range(q)) / n
    chance = sum(map(sum, weights)) / (q * (q - 1)) * sum(one * (1 - one) for one in both)
    return float((seen - chance) / (1 - chance))


def _raters(table: Confusion, values: Sequence[float | str]) -> list[list[float | str]]:
    human: list[float | str] = []
    judge: list[float | str] = []
    for i, row in enumerate(table.counts):
        for j, count in enumerate(row):
            human += [values[i]] * count
            judge += [values[j]] * count
    return [human, judge]


def _filled(n: int, values: Mapping[str, float | None], reasons: Mapping[str, str]) -> Agreement:
    fields = {name: values.get(name) for name in ("raw", *PLAIN, *WEIGHTED)}
    return Agreement(n=n, reasons=dict(reasons), **fields)
