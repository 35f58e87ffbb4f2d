"""How sure a ranking is: the share of resampled sets of cases in which a model holds a place.

Every resample takes the same cases for all models. It describes how stable the ranking is; it
is no test (statistics.md, b and c).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import factorial, prod
from typing import TYPE_CHECKING

from evalbot.stats.units import common_denominator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 7
"""Cases, or clusters, of which all resamples are enumerated; 7 have 823,543."""

FINEST = 10**9
"""Steps a credit is rounded to where the values share no scale."""

CELLS = 2_000_000
"""Of an array at a time, to bound the memory."""


def rank_probabilities(
    values: Sequence[Sequence[float]],
    *,
    lower_is_better: bool,
    seed: int = 1,
    resamples: int = 10_000,
    clusters: Sequence[str] | None = None,
) -> list[list[float]]:
    """[model][rank − 1]: how likely each model holds each rank; rank 1 is best.

    values: [model][case], the same cases for all. clusters: of each case; whole clusters are
    resampled then. Tied models share their positions equally, so every row and every column
    sums to 1. Up to seven cases or clusters are enumerated exactly; more are resampled with
    numpy's generator and this seed, with a standard error of at most 0.5/sqrt(resamples).
    Raises ValueError without cases.
    """
    import numpy as np

    models = len(values)
    if not models:
        return []
    found = np.zeros((models, models + 2))  # by place: what is added from there on
    total = 0.0
    for sums, weights in _resampled(values, lower_is_better, seed, resamples, clusters):
        total += weights.sum()
        for model in range(models):
            own = sums[:, model : model + 1]
            better = (sums > own).sum(axis=1)
            tied = (sums == own).sum(axis=1)
            share = weights / tied
            found[model] += np.bincount(better, share, models + 2)
            found[model] -= np.bincount(better + tied, share, models + 2)
    shares = np.cumsum(found, axis=1)[:, :models] / total
    return [[max(0.0, float(one)) for one in row] for row in shares]


def better_probability(
    a: Sequence[float],
    b: Sequence[float],
    *,
    lower_is_better: bool,
    seed: int = 1,
    resamples: int = 10_000,
    clusters: Sequence[str] | None = None,
) -> tuple[float, float]:
    """P(a is better than b), P(they tie), over resamples of the cases they share.

    Exact or by chance as in rank_probabilities. Raises ValueError without cases.
    """
    wins = ties = total = 0.0
    for sums, weights in _resampled((a, b), lower_is_better, seed, resamples, clusters):
        total += float(weights.sum())
        wins += float(weights[sums[:, 0] > sums[:, 1]].sum())
        ties += float(weights[sums[:, 0] == sums[:, 1]].sum())
    return wins / total, ties / total


def _resampled(
    values: Sequence[Sequence[float]],
    lower_is_better: bool,
    seed: int,
    resamples: int,
    clusters: Sequence[str] | None,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Parts of all resamples: each model's sum, higher being better, and the weight of each.

    The sums are whole numbers below 2^53, so equal ones are equal as floats too.
    """
    import numpy as np

    gains = np.array(_whole(values), dtype=np.float64).T * (-1 if lower_is_better else 1)
    if clusters is not None:
        _, members = np.unique(np.array(clusters), return_inverse=True)
        joined = np.zeros((int(members.max()) + 1, gains.shape[1]))
        np.add.at(joined, members, gains)
        gains = joined
    patterns, kind_of, counts = np.unique(gains, axis=0, return_inverse=True, return_counts=True)
    n = len(gains)
    if n <= EXACT_UP_TO:
        yield _enumerated(patterns, counts.tolist())
        return
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(len(patterns), len(values)))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = _drawn(kind_of.ravel(), counts, size, generator)
        yield drawn @ patterns, np.ones(size)


def _drawn(
    kind_of: NDArray[np.intp],
    counts: NDArray[np.intp],
    size: int,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """[resample][pattern]: how often each is taken, in the quicker of two ways to draw it."""
    import numpy as np

    n, kinds = len(kind_of), len(counts)
    if kinds * 16 < n:
        return generator.multinomial(n, counts / n, size=size).astype(np.float64)
    drawn = np.empty((size, kinds))
    for row in range(size):
        drawn[row] = np.bincount(kind_of[generator.integers(0, n, n)], minlength=kinds)
    return drawn


def _enumerated(
    patterns: NDArray[np.float64], counts: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All resamples, those that take each pattern equally often as one with its weight."""
    import numpy as np

    n = sum(counts)
    drawn = list(_compositions(n, len(counts)))
    weights = [
        factorial(n)
        * prod(count**times for count, times in zip(counts, taken, strict=True))
        // prod(map(factorial, taken))
        for taken in drawn
    ]
    return np.array(drawn, dtype=np.float64) @ patterns, np.array(weights, dtype=np.float64)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write a total as this many numbers of 0 or more, in order."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield first, *rest


def _whole(values: Sequence[Sequence[float]]) -> list[list[int]]:
    if not values[0] or len({len(row) for row in values}) > 1:
        raise ValueError("a ranking needs cases, and the same ones of every model")
    scale = common_denominator(one for row in values for one in row) or FINEST
    return [[round(one * scale) for one in row] for row in values]
