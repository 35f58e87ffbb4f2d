"""Least squares on one or two regressors within groups, with classical or clustered errors.

A dummy for every group is the same as taking each group's mean off everything (Frisch, Waugh
and Lovell), which leaves at most two unknowns and works for any number of answers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.stats.tails import t_quantile, t_two_sided

SINGULAR = 1e-10
"""Share of a spread, below which what is left of it is float noise."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A coefficient with its standard error, 95 % interval and two-sided p."""

    estimate: float
    se: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Coefficients:
    """estimates and errors in the order of the regressors; freedom: degrees of freedom of t."""

    estimates: tuple[float, ...]
    errors: tuple[float, ...]
    freedom: int

    def effect(self, place: int, unit: float = 1.0) -> Effect:
        """One coefficient, per so many units of its regressor."""
        estimate, se = self.estimates[place] * unit, self.errors[place] * unit
        reach = t_quantile(0.975, self.freedom) * se
        p = t_two_sided(estimate / se, self.freedom)
        return Effect(estimate, se, estimate - reach, estimate + reach, p)


def without_means(values: Sequence[float], groups: Sequence[str]) -> list[float]:
    """Each value less the mean of its group."""
    members: dict[str, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        members[group].append(value)
    means = {group: math.fsum(own) / len(own) for group, own in members.items()}
    return [value - means[group] for value, group in zip(values, groups, strict=True)]


def varies(values: Sequence[float], groups: Sequence[str]) -> bool:
    """Whether there is any spread within the groups."""
    left = math.fsum(one * one for one in without_means(values, groups))
    return left > SINGULAR * math.fsum(one * one for one in values)


def fit(
    outcome: Sequence[float],
    regressors: Sequence[Sequence[float]],
    groups: Sequence[str],
    clusters: Sequence[str] | None = None,
) -> Coefficients | str:
    """The outcome on one or two regressors that vary, and a dummy for each group.

    Where a cluster has several answers the errors are cluster-robust with the usual factor
    G/(G − 1)·(n − 1)/(n − k) (CR1; Cameron and Miller 2015) and t has G − 1 degrees of freedom;
    else classical, with n − k. A sentence instead, where nothing can be told.
    """
    n, k = len(outcome), len(set(groups)) + len(regressors)
    if n <= k:
        return f"needs more than {k} answers"
    y = without_means(outcome, groups)
    columns = [without_means(one, groups) for one in regressors]
    inverse = _inverse([[_dot(a, b) for b in columns] for a in columns])
    if inverse is None:
        return "the two that are to be told apart go together in all answers"
    products = [_dot(one, y) for one in columns]
    estimates = tuple(_dot(row, products) for row in inverse)
    residuals = [
        one - _dot(estimates, at) for one, at in zip(y, zip(*columns, strict=True), strict=True)
    ]
    left = _dot(residuals, residuals)
    if left <= SINGULAR * max(_dot(y, y), SINGULAR):
        return "nothing is left to chance: the human verdicts and this explain every grade"
    if clusters is None or len(set(clusters)) == n:
        variances = [left / (n - k) * inverse[i][i] for i in range(len(columns))]
        freedom = n - k
    else:
        freedom = len(set(clusters)) - 1
        if freedom < 1:
            return "needs answers of more than one case"
        factor = (freedom + 1) / freedom * (n - 1) / (n - k)
        variances = [
            factor
            * math.fsum(_dot(row, score) ** 2 for score in _scores(columns, residuals, clusters))
            for row in inverse
        ]
    if any(variance <= SINGULAR * left / n * inverse[i][i] for i, variance in enumerate(variances)):
        return "too few cases to tell how sure it is"
    return Coefficients(estimates, tuple(map(math.sqrt, variances)), freedom)


def _scores(
    columns: Sequence[Sequence[float]], residuals: Sequence[float], clusters: Sequence[str]
) -> list[list[float]]:
    """By cluster, the sums of regressor × residual."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(columns))
    for place, cluster in enumerate(clusters):
        own = sums[cluster]
        for i, column in enumerate(columns):
            own[i] += column[place] * residuals[place]
    return list(sums.values())


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]] | None:
    """Of a symmetric 1 × 1 or 2 × 2 matrix of positive diagonal; None where it has none."""
    if len(matrix) == 1:
        return [[1 / matrix[0][0]]]
    (a, b), (_, d) = matrix
    determinant = a * d - b * b
    if determinant <= SINGULAR * a * d:
        return None
    return [[d / determinant, -b / determinant], [-b / determinant, a / determinant]]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))
