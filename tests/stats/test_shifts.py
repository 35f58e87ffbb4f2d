"""Shifts of credit: statistics.md's oracles for MOVER, and what must always hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.shifts import shift

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60)


def test_the_oracle_of_ten_of_forty() -> None:
    found = shift([0, -0.5, 0, 0, 0, -0.5, 0, -0.5, 0, 0.5], math.sqrt(1 - 10 / 40))
    assert found is not None
    assert found.n == 10
    assert found.mean == pytest.approx(-0.1)
    assert found.low == pytest.approx(-0.3785077222, abs=1e-10)
    assert found.high == pytest.approx(0.1931814278, abs=1e-10)


def test_thirty_zeros_show_no_certainty() -> None:
    found = shift([0.0] * 30, math.sqrt(1 - 30 / 1000))
    assert found is not None
    assert found.low == pytest.approx(-0.1117977268, abs=1e-10)
    assert found.high == pytest.approx(0.1117977268, abs=1e-10)


def test_nothing_gives_nothing() -> None:
    assert shift([]) is None


@given(DIFFERENCES)
def test_the_interval_holds_the_mean_and_is_never_empty(values: list[float]) -> None:
    found = shift(values)
    assert found is not None
    assert -1 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high


@given(DIFFERENCES)
def test_the_other_way_round_it_is_mirrored(values: list[float]) -> None:
    one, other = shift(values), shift([-value for value in values])
    assert one is not None
    assert other is not None
    assert one.mean == pytest.approx(-other.mean)
    assert one.low == pytest.approx(-other.high)
    assert one.high == pytest.approx(-other.low)
