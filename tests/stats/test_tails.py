"""Tails against an independent library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalbot.stats.tails import sign_test, t_quantile, t_two_sided


@given(st.integers(0, 60), st.integers(0, 60))
def test_signs_are_fair_coins(one_way: int, other_way: int) -> None:
    n = one_way + other_way
    expected = stats.binomtest(one_way, n).pvalue if n else 1.0
    assert sign_test(one_way, other_way) == pytest.approx(expected, rel=1e-12)


def test_many_signs_are_counted_as_few_are() -> None:
    assert sign_test(480, 520) == pytest.approx(stats.binomtest(480, 1000).pvalue, rel=1e-9)
    assert sign_test(60_300, 59_700) == pytest.approx(
        stats.binomtest(60_300, 120_000).pvalue, rel=1e-9
    )
    assert sign_test(700, 700) == 1


@given(st.floats(-8, 8), st.integers(1, 200))
def test_t_tails_and_quantiles(t: float, freedom: int) -> None:
    assert t_two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-9)
    assert t_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)
