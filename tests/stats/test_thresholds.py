"""Proposed thresholds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.thresholds import propose_threshold
from evalbot.stats.wilson import wilson

RATIOS = [100.0, 95.0, 95.0, 90.0, 85.0, 80.0]
RIGHT = [True, True, False, True, True, False]


@pytest.mark.parametrize(
    ("wished", "ratio", "n", "errors"),
    [
        (0.0, 100.0, 1, 0),
        (0.2, 85.0, 5, 1),
        (0.25, 85.0, 5, 1),
        (0.34, 80.0, 6, 2),
        (1, 80.0, 6, 2),
    ],
)
def test_the_lowest_cut_that_is_right_often_enough(
    wished: float, ratio: float, n: int, errors: int
) -> None:
    found = propose_threshold(RATIOS, RIGHT, wished)
    assert found is not None
    assert (found.ratio, found.n, found.errors) == (ratio, n, errors)
    assert (found.low, found.high) == wilson(errors, n)


def test_equal_ratios_are_taken_together() -> None:
    assert propose_threshold([90, 90], [True, False], 0.1) is None


def test_no_cut_may_be_good_enough() -> None:
    assert propose_threshold([], [], 0.5) is None
    assert propose_threshold([99.0, 98.0], [False, True], 0.1) is None


ANSWERS = st.lists(st.tuples(st.integers(80, 100), st.booleans()), max_size=40)


@given(ANSWERS, st.sampled_from([0.0, 0.05, 0.2, 0.5]))
def test_it_keeps_the_wish_and_no_lower_cut_does(
    answers: list[tuple[int, bool]], wished: float
) -> None:
    found = propose_threshold([a for a, _ in answers], [b for _, b in answers], wished)
    good = []
    for cut in {ratio for ratio, _ in answers}:
        above = [right for ratio, right in answers if ratio >= cut]
        if above.count(False) <= wished * len(above):
            good.append((cut, len(above), above.count(False)))
    expected = min(good, default=None)
    assert (None if found is None else (found.ratio, found.n, found.errors)) == expected
