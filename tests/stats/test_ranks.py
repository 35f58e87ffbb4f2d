"""Rank stability: worked numbers, brute force over all resamples, and what must always hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.ranks import better_probability, rank_probabilities

A = [1, 1, 1, 0.5, 1, 0.5]
B = [1, 1, 0.5, 0.5, 1, 0.5]
C = [1, 0, 0.5, 0, 1, 0.5]
EQUAL_TO_B = [1, 1, 1, 0.5, 1, 0]

Ranks = list[list[float]]


def brute_force(values: list[list[float]]) -> Ranks:
    """Over every index vector."""
    n, models = len(values[0]), len(values)
    found = [[Fraction(0)] * models for _ in values]
    for taken in product(range(n), repeat=n):
        sums = [sum(Fraction(row[i]).limit_denominator(1000) for i in taken) for row in values]
        for model, own in enumerate(sums):
            better, tied = sum(s > own for s in sums), sums.count(own)
            for place in range(better, better + tied):
                found[model][place] += Fraction(1, tied)
    return [[float(one / n**n) for one in row] for row in found]


def close(expected: Ranks, tolerance: float) -> Ranks:
    return [pytest.approx(row, abs=tolerance) for row in expected]


def test_six_cases_are_enumerated() -> None:
    found = rank_probabilities([A, B, C], lower_is_better=False)
    printed = [[0.829947, 0.164845, 0.005208], [0.164845, 0.793864, 0.041292]]
    assert found == close([*printed, [0.005208, 0.041292, 0.953500]], 6e-7)
    assert [[one * 279936 for one in row] for row in found] == close(
        [[232332, 46146, 1458], [46146, 222231, 11559], [1458, 11559, 266919]], 1e-6
    )


def test_two_models_that_differ_on_one_case_tie_unless_it_is_drawn() -> None:
    better, tie = better_probability(A, B, lower_is_better=False)
    assert better == pytest.approx(0.6651020233, abs=6e-11)
    assert tie == pytest.approx(0.3348979767, abs=6e-11)
    assert tie == pytest.approx((5 / 6) ** 6, rel=1e-12)
    assert better_probability(B, A, lower_is_better=True) == (better, tie)


def test_equal_rates_are_not_equal_ranks() -> None:
    found = rank_probabilities([EQUAL_TO_B, B, C], lower_is_better=False)
    printed = [[0.496699, 0.400667, 0.102634], [0.479703, 0.496699, 0.023598]]
    assert found == close([*printed, [0.023598, 0.102634, 0.873768]], 6e-7)
    pair = better_probability(EQUAL_TO_B, B, lower_is_better=False)
    assert pair == pytest.approx((0.3581532922, 0.2836934156), abs=6e-11)


CREDITS = st.sampled_from([0, 0.5, 1, 1 / 3, 0.1 + 0.2, 0.3])
TABLES = st.integers(1, 4).flatmap(
    lambda cases: st.lists(
        st.lists(CREDITS, min_size=cases, max_size=cases), min_size=1, max_size=4
    )
)


@given(TABLES)
def test_the_enumeration_is_brute_force(values: list[list[float]]) -> None:
    found = rank_probabilities(values, lower_is_better=False)
    assert found == close(brute_force(values), 1e-12)


@given(TABLES, st.integers(1, 4), st.booleans())
def test_rows_and_columns_sum_to_1(
    values: list[list[float]], times: int, lower_is_better: bool
) -> None:
    found = rank_probabilities(
        [row * times for row in values], lower_is_better=lower_is_better, resamples=50
    )
    assert [sum(row) for row in found] == pytest.approx([1] * len(values))
    assert [sum(column) for column in zip(*found, strict=True)] == pytest.approx([1] * len(values))
    assert all(0 <= one <= 1 + 1e-12 for row in found for one in row)


@given(TABLES)
def test_the_other_direction_is_the_mirror(values: list[list[float]]) -> None:
    up = rank_probabilities(values, lower_is_better=False)
    down = rank_probabilities(values, lower_is_better=True)
    assert down == close([row[::-1] for row in up], 1e-12)


def test_models_that_are_alike_share_all_ranks_whatever_the_noise() -> None:
    noisy = [[0.1 + 0.2] * 30, [0.3] * 30, [0.1 * 3] * 30]
    assert rank_probabilities(noisy, lower_is_better=False) == close([[1 / 3] * 3] * 3, 1e-12)
    no_scale = [0.1234567891234, 0.7071067811865] * 15
    alike = rank_probabilities([no_scale, list(no_scale)], lower_is_better=False)
    assert alike == close([[0.5, 0.5]] * 2, 1e-12)


def many(cases: int, kinds: int) -> list[list[float]]:
    """Three models of 60, 58 and 50 %, in steps of 1/kinds."""
    random = Random(7)
    return [
        [round(kinds * min(1, random.random() * 2 * rate)) / kinds for _ in range(cases)]
        for rate in (0.6, 0.58, 0.5)
    ]


@pytest.mark.parametrize("kinds", [1, 60], ids=["few patterns", "many patterns"])
def test_both_ways_to_draw_give_the_probabilities(kinds: int) -> None:
    a, b, _ = values = many(300, kinds)
    found = rank_probabilities(values, lower_is_better=False)
    better, tie = better_probability(a, b, lower_is_better=False)
    differences = [x - y for x, y in zip(a, b, strict=True)]
    mean = sum(differences) / 300
    spread = (sum((d - mean) ** 2 for d in differences) / 300 / 300) ** 0.5
    from scipy.stats import norm

    assert better + tie / 2 == pytest.approx(norm.cdf(mean / spread), abs=0.02)
    assert found[0][0] + found[1][0] + found[2][0] == pytest.approx(1)


def test_resampled_shares_come_near_the_enumeration() -> None:
    exact = better_probability(A, B, lower_is_better=False)
    # Each of the six cases twice, in clusters of two that are drawn whole, is the same draw.
    twice = [[one for one in row for _ in range(2)] for row in (A, B)]
    names = [f"c{i // 2}" for i in range(12)]
    clustered = better_probability(*twice, lower_is_better=False, clusters=names)
    assert clustered == pytest.approx(exact, abs=1e-12)
    # Twelve clusters are drawn by chance; closed form: the tie needs the one case not drawn.
    a, b = [1.0] * 12, [1.0] * 11 + [0.5]
    _, tie = better_probability(a, b, lower_is_better=False)
    assert tie == pytest.approx((11 / 12) ** 12, abs=4 * 0.005)


def test_clusters_count_with_all_their_cases() -> None:
    values = [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    found = rank_probabilities(values, lower_is_better=False, clusters=["a", "a", "a", "b"])
    # Draws aa, ab, ba: the first leads; bb: the second.
    assert found == close([[0.75, 0.25], [0.25, 0.75]], 1e-12)


def test_the_seed_decides() -> None:
    values = many(40, 2)
    first = rank_probabilities(values, lower_is_better=False, seed=3, resamples=200)
    assert first == rank_probabilities(values, lower_is_better=False, seed=3, resamples=200)
    assert first != rank_probabilities(values, lower_is_better=False, seed=4, resamples=200)


def test_one_model_is_first_and_no_model_has_no_rank() -> None:
    assert rank_probabilities([[0.5, 1.0]], lower_is_better=True) == [[1.0]]
    assert rank_probabilities([], lower_is_better=True) == []


def test_no_cases_or_unlike_ones_are_refused() -> None:
    with pytest.raises(ValueError):
        rank_probabilities([[], []], lower_is_better=False)
    with pytest.raises(ValueError):
        better_probability([1.0], [1.0, 0.0], lower_is_better=False)
