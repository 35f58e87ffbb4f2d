"""MOVER: the oracles, and what must always hold."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.mover import mover

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60)


def test_ten_of_forty() -> None:
    found = mover(Counter([0, -0.5, 0, 0, 0, -0.5, 0, -0.5, 0, 0.5]))
    kept = math.sqrt(1 - 10 / 40)
    assert found.mean == pytest.approx(-0.1)
    assert found.mean - kept * found.below == pytest.approx(-0.3785077222, abs=6e-11)
    assert found.mean + kept * found.above == pytest.approx(0.1931814278, abs=6e-11)


def test_thirty_zeros_of_a_thousand() -> None:
    found = mover({0.0: 30})
    kept = math.sqrt(1 - 30 / 1000)
    assert kept * found.below == pytest.approx(0.1117977268, abs=6e-11)
    assert kept * found.above == pytest.approx(0.1117977268, abs=6e-11)


def test_a_design_effect_counts_as_fewer_answers() -> None:
    assert mover({0.0: 20, 0.5: 10}, 3.0) == pytest.approx(mover({0.0: 20 / 3, 0.5: 10 / 3}))


@given(DIFFERENCES)
def test_it_never_has_width_0(values: list[float]) -> None:
    found = mover(Counter(values))
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert found.below + found.above > 0
    assert min(found.below, found.above) >= 0


@given(DIFFERENCES)
def test_the_other_way_round_it_is_mirrored(values: list[float]) -> None:
    one, other = mover(Counter(values)), mover(Counter(-value for value in values))
    assert one.mean == pytest.approx(-other.mean)
    assert one.below == pytest.approx(other.above)
    assert one.above == pytest.approx(other.below)
