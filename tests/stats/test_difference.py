"""Difference estimators: the oracles, two ways, and where which interval stands."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from scipy import stats

from evalbot.stats.difference import (
    Stratum,
    different,
    of_random,
    of_strata,
    of_weighted,
    standard_error,
    t_reach,
)
from evalbot.stats.mover import mover

TEN = Counter([0, -0.5, 0, 0, 0, -0.5, 0, -0.5, 0, 0.5])
STRATA = [
    Stratum(Counter([0, 0, 0.5, 0]), 20),
    Stratum(Counter([0.5, 0, 0.5, 1, 0.5, 0.5]), 30),
    Stratum(Counter([1, 1, 0.5, 1, 1, 1, 0.5, 1, 1, 1]), 50),
]
SHARES = [0.2, 0.3, 0.5]


def test_the_textbook_interval_of_ten_of_forty() -> None:
    found = t_reach(TEN, 40)
    assert standard_error(TEN, 40) == pytest.approx(0.0866025404, abs=6e-11)
    assert 0.7125 + found.mean - found.below == pytest.approx(0.4165914430, abs=6e-11)
    assert 0.7125 + found.mean + found.above == pytest.approx(0.8084085570, abs=6e-11)


def test_the_t_interval_is_scipys_shrunk_by_what_is_reviewed() -> None:
    values = list(TEN.elements())
    low, high = stats.t.interval(0.95, 9, loc=-0.1, scale=stats.sem(values))
    found = t_reach(TEN, 40)
    assert found.above * 2 == pytest.approx((high - low) * math.sqrt(0.75))


def test_few_differences_are_left_to_mover() -> None:
    found = of_random(TEN, 40)
    assert found.interval == "mover"
    assert found.reach.below == pytest.approx(0.3785077222 - 0.1, abs=6e-11)


@pytest.mark.parametrize(
    ("tally", "count"),
    [({0.0: 30}, 0), ({-0.5: 30}, 0), ({0.0: 30, 0.5: 19}, 19), ({0.0: 5, 0.5: 5, 1.0: 6}, 10)],
)
def test_different_from_the_most_common(tally: dict[float, float], count: float) -> None:
    assert different(tally) == count


def test_twenty_that_differ_show_the_spread() -> None:
    assert of_random({0.0: 30, 0.5: 19}, 1000).interval == "mover"
    found = of_random({0.0: 30, 0.5: 10, -0.5: 10}, 1000)
    assert found.interval == "t"
    assert found.reach == t_reach({0.0: 30, 0.5: 10, -0.5: 10}, 1000)


def test_a_judge_that_is_always_off_alike_has_not_shown_its_spread() -> None:
    assert of_random({-0.5: 50}, 1000).interval == "mover"


def test_all_reviewed_leaves_nothing_open() -> None:
    assert of_random(TEN, 10).reach == pytest.approx((-0.1, 0.0, 0.0))


def test_strata_are_weighed_by_their_size() -> None:
    found = of_strata(STRATA)
    errors = [standard_error(one.tally, one.population) for one in STRATA]
    squares = [(share * error) ** 2 for share, error in zip(SHARES, errors, strict=True)]
    assert found.reach.mean == pytest.approx(0.625)
    assert math.sqrt(sum(squares)) == pytest.approx(0.0508811251, abs=6e-11)


def test_strata_combine_their_bounds_as_roots_of_squares() -> None:
    found = of_strata(STRATA)
    parts = [mover(one.tally) for one in STRATA]
    below = math.sqrt(
        sum((w * math.sqrt(0.8) * one.below) ** 2 for w, one in zip(SHARES, parts, strict=True))
    )
    above = math.sqrt(
        sum((w * math.sqrt(0.8) * one.above) ** 2 for w, one in zip(SHARES, parts, strict=True))
    )
    assert found.interval == "mover-stratified"
    assert found.reach == pytest.approx((0.625, below, above))


def test_one_stratum_is_a_random_sample() -> None:
    assert of_strata([Stratum(TEN, 40)]).reach == pytest.approx(of_random(TEN, 40).reach)


def test_a_stratum_of_one_label_works() -> None:
    found = of_strata([Stratum({0.0: 1}, 7), Stratum({0.0: 20}, 93)])
    assert found.interval == "mover-stratified"
    assert found.reach.below > 0.07 * mover({0.0: 1}).below * math.sqrt(6 / 7)


def test_strata_that_show_their_spread_together_go_by_t() -> None:
    some = [Stratum({0.0: 40, -0.5: 10}, 200), Stratum({0.0: 30, 0.5: 10}, 100)]
    found = of_strata(some)
    first, second = (t_reach(one.tally, one.population) for one in some)
    assert found.interval == "t-stratified"
    assert found.reach.below == pytest.approx(math.hypot(2 / 3 * first.below, 1 / 3 * second.below))
    assert of_strata([some[0], Stratum({0.0: 30, 0.5: 9}, 100)]).interval == "mover-stratified"


def test_what_sets_strata_apart_is_no_spread() -> None:
    apart = [Stratum({0.0: 40}, 200), Stratum({-0.5: 40}, 100)]
    assert of_strata(apart).interval == "mover-stratified"


def test_a_stratum_without_spread_is_not_taken_for_certain() -> None:
    found = of_strata([Stratum({0.0: 40, -0.5: 20}, 200), Stratum({0.0: 5}, 100)])
    assert found.interval == "t-stratified"
    assert found.reach.above > 1 / 3 * mover({0.0: 5}).above * math.sqrt(0.95)


def test_one_weighted_draw() -> None:
    """xi = 010101 of the enumerated example in test_corrections_not_used; judge's mean 4/6."""
    found = of_weighted({(-0.5, 0.625): 1, (-0.5, 0.8125): 1, (0.0, 0.375): 1}, 6)
    assert 4 / 6 + found.reach.mean == pytest.approx(0.4307692308, abs=6e-11)
    assert found.interval is None


def test_the_error_of_a_weighted_draw_is_that_of_the_fixed_set() -> None:
    """Each of the six answers twenty times: its error shrinks by the root of twenty."""
    found = of_weighted({(-0.5, 0.625): 20, (-0.5, 0.8125): 20, (0.0, 0.375): 45}, 120)
    terms = [0.375 * (0.5 / 0.625) ** 2, 0.1875 * (0.5 / 0.8125) ** 2]
    size = 20 * sum(terms) ** 2 / sum(term**2 for term in terms)
    assert found.interval == "ipw"
    assert found.reach.below == pytest.approx(
        stats.t.ppf(0.975, size - 1) * 0.0929465075 / math.sqrt(20)
    )
    assert found.reach.above == found.reach.below


def test_answers_that_were_certain_to_be_drawn_show_no_spread_of_the_rest() -> None:
    assert of_weighted({(0.0, 0.5): 50, (-0.5, 1.0): 30}, 150).interval is None
    assert of_weighted({(0.0, 0.5): 50, (-0.5, 0.9): 20}, 150).interval == "ipw"


def test_a_design_effect_widens_every_form() -> None:
    wide = {0.0: 30.0, 0.5: 20.0}
    assert t_reach(wide, 1e9, 4).above == pytest.approx(2 * t_reach(wide, 1e9).above)
    assert of_strata(STRATA, 2).reach.above > of_strata(STRATA).reach.above
    coins = {(0.0, 0.1): 30.0, (0.5, 0.1): 20.0}
    assert of_weighted(coins, 500, 4).reach.above == pytest.approx(
        2 * of_weighted(coins, 500).reach.above
    )
