"""Worked numbers of the interval, each computed in two independent ways elsewhere."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.wilson import design_effect, effective_size, wilson, wilson_of

TEN = [1, 1, 1, 0.5, 0.5, 1, 0, 1, 0.5, 1]
CLUSTERED = [1, 1, 1, 0.5, 0, 0.5]


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (6, 6, 0.6096657121, 1.0),
        (0, 6, 0.0, 0.3903342879),
        (4, 6, 0.2999933151, 0.9032285889),
        (15, 20, 0.5312991224, 0.8881382986),
        (78, 101, 0.6814098988, 0.8431917294),
        (5.5, 6, 0.5168170512, 0.9912377089),
        (0.5, 6, 0.0087622911, 0.4831829488),
        (7.5, 10, 0.4421814243, 0.9190521758),
        (3, 6, 0.187616, 0.812384),
    ],
)
def test_bounds_of_a_rate(successes: float, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert interval is not None
    assert interval.low == pytest.approx(low, abs=6e-11 if len(f"{low}") > 9 else 6e-7)
    assert interval.high == pytest.approx(high, abs=6e-11 if len(f"{high}") > 9 else 6e-7)


def test_the_lower_bound_of_nothing_is_a_plain_zero() -> None:
    interval = wilson(0, 6)
    assert interval is not None
    assert math.copysign(1, interval.low) == 1


def test_no_cases_have_no_interval() -> None:
    assert wilson(0, 0) is None
    assert wilson_of([]) is None


@pytest.mark.parametrize(
    ("values", "cap", "size", "low", "high"),
    [
        (TEN, None, 16.6667, 0.510002, 0.896341),
        (TEN, 1.5, 15, 0.4969743704, 0.9010839791),
        ([0.5] * 6, 1.5, 6, 0.187616, 0.812384),
        ([1, 1, 1, 1, 1, 0.5], None, 13.2, 0.661369, 0.984115),
        ([1] * 70 + [0.5] * 16 + [0] * 15, None, 130.3553957, 0.6931039900, 0.8358622945),
    ],
)
def test_less_spread_means_a_larger_effective_size(
    values: list[float], cap: float | None, size: float, low: float, high: float
) -> None:
    found = effective_size(values, cap)
    assert found == pytest.approx(size, abs=6e-5)
    assert found is not None
    interval = wilson(sum(values) / len(values) * found, found)
    assert interval == pytest.approx((low, high), abs=6e-7)


def test_effective_size_of_nothing_is_unknown() -> None:
    assert effective_size([]) is None


def test_clusters_widen_the_interval() -> None:
    clusters = ["a", "a", "b", "b", "c", "c"]
    assert design_effect(CLUSTERED, clusters) == pytest.approx(2.1)
    assert wilson_of(CLUSTERED, clusters) == pytest.approx((0.2015296026, 0.9406464810), abs=6e-11)


def test_clusters_of_one_case_change_nothing() -> None:
    assert wilson_of(CLUSTERED, list("abcdef")) == wilson_of(CLUSTERED)


def test_equal_values_count_as_one_per_cluster() -> None:
    assert design_effect([1, 1, 1, 1], ["a", "a", "b", "b"]) == 2


def test_one_cluster_counts_as_one_case() -> None:
    assert design_effect([1, 0, 1], ["a", "a", "a"]) == 3


@given(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=60))
def test_the_interval_holds_the_rate_and_stays_in_range(values: list[float]) -> None:
    interval = wilson_of(values)
    assert interval is not None
    assert 0 <= interval.low <= sum(values) / len(values) <= interval.high <= 1
    assert interval.low < interval.high


@given(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=60))
def test_the_interval_of_the_opposite_is_the_mirror(values: list[float]) -> None:
    interval = wilson_of(values)
    mirrored = wilson_of([1 - value for value in values])
    assert interval is not None
    assert mirrored == pytest.approx((1 - interval.high, 1 - interval.low), abs=1e-12)
