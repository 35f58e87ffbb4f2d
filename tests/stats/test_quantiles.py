"""Percentiles as numpy gives them; the interval of a median."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.quantiles import known, median_interval, percentile, percentile_of_known

TIMES = [0.2, 0.25, 0.3, 0.9]


@pytest.mark.parametrize(
    ("q", "expected"), [(0, 0.2), (50, 0.275), (90, 0.72), (99, 0.882), (100, 0.9)]
)
def test_percentiles_interpolate_linearly(q: float, expected: float) -> None:
    assert percentile(TIMES, q) == pytest.approx(expected, abs=1e-12)


def test_order_does_not_matter_and_one_value_is_every_percentile() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([7.0], 90) == 7.0


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError):
        percentile([], 50)
    assert percentile_of_known([None, None], 50) is None


def test_unknown_values_are_left_out() -> None:
    assert known([1.0, None, 0.0]) == [1.0, 0.0]
    assert percentile_of_known([None, 4.0, 2.0], 50) == 3.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 100))
def test_a_percentile_lies_inside_the_values(values: list[float], q: float) -> None:
    assert min(values) - 1e-9 <= percentile(values, q) <= max(values) + 1e-9


@pytest.mark.parametrize(
    ("n", "ranks"),
    # Exact binomial tables for 95 %: n = 6 needs the whole span, n = 10 ranks 2 and 9.
    [(5, None), (6, (1, 6)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (100, (40, 61))],
)
def test_the_interval_of_a_median_is_a_pair_of_order_statistics(
    n: int, ranks: tuple[int, int] | None
) -> None:
    assert median_interval([float(rank) for rank in range(n, 0, -1)]) == ranks


@given(st.integers(6, 1200))
def test_the_interval_of_a_median_covers_it_at_least_as_often_as_stated(n: int) -> None:
    interval = median_interval([float(rank) for rank in range(1, n + 1)])
    assert interval is not None
    below = int(interval[0])  # missed when fewer than this many values lie below the median
    assert 2 * sum(comb(n, k) for k in range(below)) / 2**n <= 0.0501
