"""Paired tests: worked numbers, enumeration of all signs, and what must always hold."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalbot.stats.paired import (
    SignFlip,
    benjamini_yekutieli,
    cases_needed,
    fewest_one_way,
    holm,
    sign_flip,
)

A = [1, 1, 0.5, 1, 1, 0.5, 1, 1]
B = [0.5, 1, 0.5, 0, 1, 0.5, 0.5, 0]
EIGHT = [a - b for a, b in zip(A, B, strict=True)]


def enumerated(differences: list[float]) -> float:
    observed = abs(math.fsum(differences))
    hits = [
        abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-9
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(hits) / len(hits)


@pytest.mark.parametrize(
    ("losses", "wins", "p"),
    [(1, 7, 0.0703125), (0, 5, 0.0625), (0, 6, 0.03125), (2, 9, 0.0654296875)],
)
def test_with_two_verdicts_it_is_mcnemars_exact_test(losses: int, wins: int, p: float) -> None:
    assert sign_flip([1] * wins + [-1] * losses + [0] * 5) == SignFlip(p, "exact")
    assert stats.binomtest(wins, wins + losses).pvalue == pytest.approx(p, rel=1e-12)


def test_partial_credit_counts_as_much_as_it_is() -> None:
    assert sum(EIGHT) / 8 == 0.375
    assert sign_flip(EIGHT) == SignFlip(0.125, "exact")
    assert enumerated(EIGHT) == 0.125
    independent = stats.permutation_test(
        (A, B),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
    )
    assert independent.pvalue == 0.125


def test_thirteen_cases_with_eight_that_differ() -> None:
    assert sign_flip([1] * 7 + [-1] + [0] * 5) == SignFlip(0.0703125, "exact")


def test_no_cases_have_no_test_and_no_difference_has_p_1() -> None:
    assert sign_flip([]) is None
    assert sign_flip([0.0, 0.0]) == SignFlip(1.0, "exact")
    assert sign_flip([0.1 + 0.2 - 0.3] * 3) == SignFlip(1.0, "exact")
    assert sign_flip([1.0, -0.5, -0.5]) == SignFlip(1.0, "exact")


SCALES = st.sampled_from([1, 2, 3, 6, 10, 60])


@given(
    SCALES.flatmap(
        lambda scale: st.lists(
            st.integers(-scale, scale).map(lambda step: step / scale), min_size=1, max_size=9
        )
    )
)
def test_it_is_the_share_of_all_signs(differences: list[float]) -> None:
    found = sign_flip(differences)
    assert found is not None
    assert found.p == pytest.approx(enumerated(differences), rel=1e-12)


def test_float_noise_of_tenths_and_thirds_breaks_no_tie() -> None:
    tenths = [0.3, 0.1 + 0.2, -0.3, 0.7 - 0.1, -0.6, 0.3]
    assert sign_flip(tenths) == SignFlip(pytest.approx(enumerated(tenths)), "exact")
    thirds = [(1 + 1 + 0.5) / 3 - 0.5, 1 / 3, 2 / 3 - 1, 1 / 3]
    assert sign_flip(thirds) == SignFlip(pytest.approx(enumerated(thirds)), "exact")


def test_up_to_two_thousand_that_differ_are_summed_exactly() -> None:
    differences = [0.5] * 940 + [-0.5] * 860 + [1.0, -1.0] * 100
    found = sign_flip([*differences, *[0.0] * 500])
    assert found is not None
    assert found.method == "exact"
    # 1,800 halves and 200 ones: the variance is 650, the sum 40, in steps of 1.
    assert found.p == pytest.approx(math.erfc((40 - 0.5) / math.sqrt(2 * 650)), rel=0.001)
    binary = sign_flip([1.0] * 1050 + [-1.0] * 950)
    assert binary is not None
    assert binary.p == pytest.approx(stats.binomtest(950, 2000).pvalue, rel=1e-9)


def test_more_than_that_it_is_the_normal_approximation_by_name() -> None:
    many = sign_flip([1.0] * 1050 + [-1.0] * 951)
    assert many == SignFlip(pytest.approx(2 * stats.norm.sf(99 / math.sqrt(2001))), "normal")
    long_lattice = sign_flip([1.0 / 990, 1.0 / 7, 0.7] * 600)
    assert long_lattice is not None
    assert long_lattice.method == "normal"


@pytest.mark.parametrize(
    "differences",
    [
        [0.3333] * 5,
        [0.4165, 0.4165, -0.0835, 0.4165, 0.25, 0.333, 0.1665],
        [math.pi / 10, -math.e / 10, 0.123456789, 0.5, 0.7],
        [0.4165],
    ],
)
def test_a_few_differences_that_share_no_scale_are_tested_exactly_too(
    differences: list[float],
) -> None:
    """Credits of thousandths, twice repeated: five cases cannot tell models apart by any test."""
    found = sign_flip(differences)
    assert found == SignFlip(pytest.approx(enumerated(differences), rel=1e-9), "exact")


def test_thirds_with_four_digits_are_tested_as_thirds() -> None:
    """Sums that only rounding makes unlike are alike."""
    thirds = sign_flip([1 / 3, 2 / 3, 1.0, -1 / 3, 1 / 3])
    assert sign_flip([0.3333, 0.6667, 1.0, -0.3333, 0.3334]) == thirds
    assert thirds == SignFlip(pytest.approx(0.25), "exact")


def test_many_differences_that_share_no_scale_end_where_the_normal_approximation_begins() -> None:
    odd = [math.sin(n) / 2 + 0.05 for n in range(1, 101)]
    exact, normal = sign_flip(odd), sign_flip([*odd, 1e-6])
    assert exact is not None
    assert normal is not None
    assert (exact.method, normal.method) == ("exact", "normal")
    assert exact.p == pytest.approx(normal.p, rel=0.02)


def test_holm() -> None:
    assert holm([0.0703125, 0.012, 0.03]) == pytest.approx([0.0703125, 0.036, 0.06], abs=1e-12)
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_holm_keeps_the_order_and_never_lowers(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(a >= p for a, p in zip(adjusted, ps, strict=True))
    assert max(adjusted) <= 1
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


@given(P_VALUES, st.sampled_from([0.05, 0.2]))
def test_benjamini_yekutieli_as_adjusted_p_values_give_it(ps: list[float], q: float) -> None:
    adjusted = stats.false_discovery_control(ps, method="by")
    close = [abs(a - q) < 1e-9 for a in adjusted]
    found = benjamini_yekutieli(ps, q)
    assert [f or c for f, c in zip(found, close, strict=True)] == [
        a <= q or c for a, c in zip(adjusted, close, strict=True)
    ]


def test_benjamini_yekutieli_of_three() -> None:
    assert benjamini_yekutieli([0.0147626474, 0.0025617847, 0.0096885717]) == [True] * 3
    assert benjamini_yekutieli([0.0281, 0.0025, 0.0096]) == [False, True, True]
    assert benjamini_yekutieli([]) == []


@pytest.mark.parametrize(
    ("pairs", "cases", "p"),
    [(1, 6, 0.03125), (3, 7, 0.015625), (6, 8, 0.0078125), (10, 9, 0.00390625)],
)
def test_fewest_cases_that_can_tell_models_apart(pairs: int, cases: int, p: float) -> None:
    assert fewest_one_way(pairs) == cases
    assert sign_flip([1] * cases) == SignFlip(p, "exact")
    assert p * pairs <= 0.05 < 2 * p * pairs


def power_of_mcnemar(n: int, up: float, down: float, alpha: float = 0.05) -> float:
    """Chance that the exact test rejects, summed over all outcomes."""
    power = 0.0
    for differ in range(n + 1):
        chance = stats.binom.pmf(differ, n, up + down)
        for wins in range(differ + 1):
            if differ and stats.binomtest(wins, differ).pvalue <= alpha:
                power += chance * stats.binom.pmf(wins, differ, up / (up + down))
    return power


def test_so_many_cases_find_the_difference_about_as_often_as_asked() -> None:
    # 4 of 10 better, 1 of 10 worse: Connor's formula by hand.
    differences = [1.0] * 4 + [-1.0] + [0.0] * 5
    needed = cases_needed(differences)
    by_hand = (1.959963985 * math.sqrt(0.5) + 0.841621234 * math.sqrt(0.5 - 0.09)) ** 2 / 0.09
    assert needed == math.ceil(by_hand) == 42
    assert 0.7 < power_of_mcnemar(needed, 0.4, 0.1) < 0.85


def test_cases_needed_grow_with_the_number_of_pairs_and_shrink_with_the_difference() -> None:
    small, large = [1.0, 0, 0, 0, 0, 0, 0, -0.5], [1.0, 1.0, 0, 0, 0, 0, 0, -0.5]
    needed = [cases_needed(small), cases_needed(small, pairs=3), cases_needed(large)]
    assert None not in needed
    assert needed[1] > needed[0] > needed[2]  # type: ignore[operator]
    assert cases_needed([-d for d in small]) == needed[0]


def test_never_fewer_cases_than_can_tell_anything_apart() -> None:
    assert cases_needed([1.0, 1.0, 1.0]) == 6
    assert cases_needed([1.0, 1.0, 1.0], pairs=10) == 9


def test_without_a_difference_no_number_of_cases_is_enough() -> None:
    assert cases_needed([]) is None
    assert cases_needed([1.0]) is None
    assert cases_needed([1.0, -1.0]) is None
    assert cases_needed([0.1, 0.2, -0.3]) is None
