"""Methods that evalbot does not use, on the same data.

These numbers back what docs/statistics.md says against those methods. Each is worked out here,
from its definition or by a library that only the tests use.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from krippendorff import alpha
from scipy import stats

from evalbot.stats.wilson import wilson
from tests.stats.judged import DIFFERENCES, FIFTY, HUMAN, JUDGE, LENGTHS, SAME

TEN = [1, 1, 1, 0.5, 0.5, 1, 0, 1, 0.5, 1]
A = [1, 1, 0.5, 1, 1, 0.5, 1, 1]
B = [0.5, 1, 0.5, 0, 1, 0.5, 0.5, 0]
EIGHT = [a - b for a, b in zip(A, B, strict=True)]
P_VALUES = [0.0703125, 0.012, 0.03]

PRINTED = {"abs": 6e-11}
SHORT = {"abs": 6e-7}


def bootstrap(values: list[float]) -> dict[float, Fraction]:
    """The exact distribution of the mean of a resample, for values in halves."""
    n = len(values)
    shares = {value: Fraction(values.count(value), n) for value in set(values)}
    sums = {0.0: Fraction(1)}
    for _ in values:
        following: dict[float, Fraction] = defaultdict(Fraction)
        for total, chance in sums.items():
            for value, share in shares.items():
                following[total + value] += chance * share
        sums = following
    return {total / n: sums[total] for total in sorted(sums)}


def quantile(distribution: dict[float, Fraction], level: float) -> float:
    """The least value that at least this share does not exceed."""
    reached = Fraction(0)
    for value, chance in distribution.items():
        reached += chance
        if reached >= level:
            return value
    raise AssertionError("the shares sum to 1")


def t_interval(values: list[float]) -> tuple[float, float]:
    mean, se = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))
    reach = stats.t.ppf(0.975, len(values) - 1) * se
    return mean - reach, mean + reach


# Intervals of one rate.


@pytest.mark.parametrize(
    ("successes", "n", "bounds"), [(6, 6, (0.540742, 1)), (15, 20, (0.508954, 0.913429))]
)
def test_clopper_pearson(successes: int, n: int, bounds: tuple[float, float]) -> None:
    found = stats.binomtest(successes, n).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx(bounds, **SHORT)
    low = stats.beta.ppf(0.025, successes, n - successes + 1)
    assert low == pytest.approx(bounds[0], **SHORT)


def test_jeffreys() -> None:
    found = stats.beta.ppf([0.025, 0.975], 15.5, 5.5)
    assert found == pytest.approx([0.535805, 0.897602], **SHORT)


def test_the_t_interval_of_a_rate_goes_beyond_1() -> None:
    assert np.std(TEN, ddof=1) == pytest.approx(0.3535533906, **PRINTED)
    assert np.std(TEN, ddof=1) / math.sqrt(10) == pytest.approx(0.1118033989, **PRINTED)
    assert t_interval(TEN) == pytest.approx((0.4970831404, 1.0029168596), **PRINTED)


def test_the_percentile_bootstrap_of_a_rate() -> None:
    distribution = bootstrap(TEN)
    assert (quantile(distribution, 0.025), quantile(distribution, 0.975)) == (0.55, 0.95)


def test_the_bca_bootstrap_of_a_rate() -> None:
    distribution = bootstrap(TEN)
    mean = float(np.mean(TEN))
    below = sum(chance for value, chance in distribution.items() if value < mean)
    at = distribution[mean]
    z0 = stats.norm.ppf(float(below + at / 2))
    assert z0 == pytest.approx(-0.0498602984, **PRINTED)
    left_out = np.array([(sum(TEN) - one) / 9 for one in TEN])
    gaps = left_out.mean() - left_out
    a = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    assert a == pytest.approx(-0.0523782801, **PRINTED)
    z = stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
    assert levels == pytest.approx([0.0108335, 0.9541523], abs=6e-8)
    assert [quantile(distribution, level) for level in levels] == [0.5, 0.9]


def test_the_bootstrap_of_a_perfect_rate_knows_no_doubt() -> None:
    assert bootstrap([1.0] * 6) == {1.0: 1}
    with np.errstate(invalid="ignore"), pytest.warns(stats.DegenerateDataWarning):
        found = stats.bootstrap(([1.0] * 6,), np.mean, n_resamples=200, method="BCa")
    assert math.isnan(found.confidence_interval.low)


@pytest.mark.parametrize(
    ("n", "p", "expected"),
    [(8, 0.02, 0.851), (6, 0.02, 0.886), (10, 0.05, 0.914), (200, 0.02, 0.933)],
)
def test_wilson_covers_95_percent_on_average_and_not_everywhere(
    n: int, p: float, expected: float
) -> None:
    def covers(successes: int) -> bool:
        bounds = wilson(successes, n)
        assert bounds is not None
        return bounds.low <= p <= bounds.high

    coverage = sum(stats.binom.pmf(k, n, p) for k in range(n + 1) if covers(k))
    assert coverage == pytest.approx(expected, abs=6e-4)


def test_standard_errors_that_know_nothing_of_clusters() -> None:
    clusters = [[1, 1], [1, 0.5], [0, 0.5]]
    values = [one for cluster in clusters for one in cluster]
    mean = np.mean(values)
    assert mean == pytest.approx(0.6666666667, **PRINTED)
    assert np.std(values) / math.sqrt(6) == pytest.approx(0.1521452, abs=6e-8)
    assert np.std(values, ddof=1) / math.sqrt(6) == pytest.approx(0.1666666667, **PRINTED)
    clustered = math.sqrt(sum((np.array(cluster) - mean).sum() ** 2 for cluster in clusters)) / 6
    assert clustered == pytest.approx(0.1800205750, **PRINTED)
    assert clustered * math.sqrt(3 / 2) == pytest.approx(0.2204792759, **PRINTED)


# Two models on the same cases.


@pytest.mark.parametrize(
    ("losses", "wins", "expected"),
    [(1, 7, 0.0390625), (0, 5, 0.03125), (0, 6, 0.015625), (2, 9, 0.03857421875)],
)
def test_mcnemars_mid_p(losses: int, wins: int, expected: float) -> None:
    exact = stats.binomtest(wins, wins + losses).pvalue
    point = math.comb(wins + losses, losses) / 2 ** (wins + losses)
    assert exact - point == pytest.approx(expected, rel=1e-12)


def test_the_large_sample_mcnemar_is_too_easily_convinced() -> None:
    chi_squared = (7 - 1) ** 2 / (7 + 1)
    assert stats.chi2.sf(chi_squared, 1) == pytest.approx(0.0338948535, **PRINTED)
    assert stats.binomtest(7, 8).pvalue == 0.0703125


def test_the_paired_t_test_and_bootstrap_find_what_the_exact_test_does_not() -> None:
    assert np.std(EIGHT, ddof=1) == pytest.approx(0.4432026302, **PRINTED)
    assert t_interval(EIGHT) == pytest.approx((0.0044733286, 0.7455266714), **PRINTED)
    assert stats.ttest_rel(A, B).pvalue == pytest.approx(0.0479447722, **PRINTED)
    distribution = bootstrap(EIGHT)
    assert (quantile(distribution, 0.025), quantile(distribution, 0.975)) == (0.125, 0.6875)
    assert sum(chance for value, chance in distribution.items() if value <= 0) == Fraction(1, 256)
    assert 1 / 256 == 0.00390625


def test_bonferroni_is_stricter_than_holm_and_benjamini_hochberg_controls_something_else() -> None:
    assert [3 * p for p in P_VALUES] == pytest.approx([0.2109375, 0.036, 0.09])
    found = stats.false_discovery_control(P_VALUES, method="bh")
    assert found == pytest.approx([0.0703125, 0.036, 0.045])


# Agreement.


def kappa_interval(power: int | None) -> tuple[float, float, float]:
    """Weighted kappa with the standard error of Fleiss, Cohen and Everitt (1969)."""
    p = np.array(FIFTY) / 50
    i, j = np.indices(p.shape)
    w = (i == j).astype(float) if power is None else 1 - (abs(i - j) / 2) ** power
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    seen, chance = (w * p).sum(), (w * np.outer(rows, columns)).sum()
    by_row, by_column = w @ columns, rows @ w
    kappa = (seen - chance) / (1 - chance)
    inner = w - (by_row[:, None] + by_column[None, :]) * (1 - kappa)
    variance = ((p * inner**2).sum() - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2 / 50
    reach = stats.norm.ppf(0.975) * math.sqrt(variance)
    return kappa, kappa - reach, kappa + reach


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        (None, (0.5896464646, 0.4024657942, 0.7768271351)),
        (1, (0.6691871456, 0.5054344252, 0.8329398659)),
        (2, (0.7484276730, 0.5951573127, 0.9016980332)),
    ],
    ids=["unweighted", "linear", "quadratic"],
)
def test_large_sample_intervals_of_kappa(
    power: int | None, expected: tuple[float, float, float]
) -> None:
    found = kappa_interval(power)
    assert found == pytest.approx(expected, **PRINTED)
    if power is None:
        se = (found[2] - found[0]) / stats.norm.ppf(0.975)
        assert se == pytest.approx(0.0955020969, **PRINTED)


def test_alpha_of_ranks() -> None:
    human = [i for i, row in enumerate(FIFTY) for count in row for _ in range(count)]
    judge = [j for row in FIFTY for j, count in enumerate(row) for _ in range(count)]
    found = alpha(reliability_data=[human, judge], level_of_measurement="ordinal")
    assert found == pytest.approx(0.7454285714, **PRINTED)
    # From the coincidences: the distance of two ranks is how many ratings lie between them.
    table = np.array(FIFTY) + np.array(FIFTY).T
    sums = table.sum(axis=1)
    apart = np.array(
        [
            [sums[min(i, j) : max(i, j) + 1].sum() - (sums[i] + sums[j]) / 2 for j in range(3)]
            for i in range(3)
        ]
    )
    np.fill_diagonal(apart, 0)
    expected = (np.outer(sums, sums) * apart**2).sum() / (sums.sum() - 1)
    assert 1 - (table * apart**2).sum() / expected == pytest.approx(found)


def test_means_hide_that_the_judge_is_not_the_people() -> None:
    table, weights = np.array(FIFTY), np.array([0, 0.5, 1])
    assert table.sum(axis=1) @ weights / 50 == pytest.approx(0.60)
    assert table.sum(axis=0) @ weights / 50 == pytest.approx(0.66)


# Leanings of a judge.


def test_length_without_regard_to_what_people_say_looks_like_more_bias() -> None:
    x = np.log(np.array(LENGTHS) / np.median(LENGTHS))
    assert np.median(LENGTHS) == 115
    slope = np.cov(x, DIFFERENCES)[0, 1] / np.var(x, ddof=1)
    assert slope == pytest.approx(0.4203814761, **PRINTED)
    assert slope * math.log(2) == pytest.approx(0.2913862349, **PRINTED)


def test_own_family_by_relabelling_answers() -> None:
    def difference(own: set[int]) -> float:
        same = [d for i, d in enumerate(DIFFERENCES) if i in own]
        other = [d for i, d in enumerate(DIFFERENCES) if i not in own]
        return sum(same) / len(same) - sum(other) / len(other)

    observed = difference({i for i, one in enumerate(SAME) if one})
    assert observed == 0.25
    sets = list(combinations(range(12), 6))
    extreme = sum(abs(difference(set(own))) >= abs(observed) - 1e-9 for own in sets)
    assert (extreme, len(sets)) == (336, 924)
    assert extreme / len(sets) == pytest.approx(0.3636363636, **PRINTED)


def test_own_family_by_equal_opportunity_takes_one_human_verdict_only() -> None:
    def share(own: bool) -> float:
        graded = [j == 1 for h, j, s in zip(HUMAN, JUDGE, SAME, strict=True) if h == 1 and s is own]
        return sum(graded) / len(graded)

    assert (share(True), share(False)) == (1.0, 0.5)
    assert share(True) - share(False) == 0.5
