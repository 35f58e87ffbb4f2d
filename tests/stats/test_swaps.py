"""Fragile places: worked numbers, and brute force over all changes."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.swaps import lead_after_one_change, swap_after

SCALE = [0, 0.5, 1]
A = [1, 1, 1, 0.5, 1, 0]
B = [1, 1, 0.5, 0.5, 1, 0.5]
C = [1, 0, 0.5, 0, 1, 0.5]

Model = list[list[float]]


def once(values: list[float]) -> Model:
    return [[value] for value in values]


def lead(a: Model, b: Model, sign: int) -> Fraction:
    def total(model: Model) -> Fraction:
        return sum(sum(map(Fraction, case), Fraction(0)) / len(case) for case in model)  # type: ignore[return-value]

    return sign * (total(a) - total(b))


def brute_force(a: Model, b: Model, sign: int, most: int) -> int | None:
    """Fewest edits, up to `most`, after which whoever trails (or either, at a tie) leads."""
    before = lead(a, b, sign)
    places = [(m, i, j) for m, model in enumerate((a, b)) for i, c in enumerate(model)
              for j in range(len(c))]  # fmt: skip
    for count in range(1, most + 1):
        for chosen in combinations(places, count):
            for weights in product(SCALE, repeat=count):
                edited = [[list(case) for case in model] for model in (a, b)]
                for (m, i, j), weight in zip(chosen, weights, strict=True):
                    edited[m][i][j] = weight
                after = lead(*edited, sign)
                if after * before < 0 or (before == 0 and after != 0):
                    return count
    return None


@pytest.mark.parametrize(
    ("one", "other", "left", "changes"), [(A, B, -1, 1), (B, C, 0.5, 2), (A, C, 0.5, 2)]
)
def test_leads_after_one_change(
    one: list[float], other: list[float], left: float, changes: int
) -> None:
    for a, b in ((one, other), (other, one)):
        found = lead_after_one_change(once(a), once(b), SCALE, lower_is_better=False)
        assert found == pytest.approx(left)
        assert swap_after(once(a), once(b), SCALE, lower_is_better=False) == changes
        mirrored = [[1 - value for value in model] for model in (a, b)]
        found = lead_after_one_change(*map(once, mirrored), SCALE, lower_is_better=True)
        assert found == pytest.approx(left)


CASES = st.lists(st.lists(st.sampled_from(SCALE), min_size=1, max_size=2), min_size=2, max_size=2)


@given(CASES, CASES, st.booleans())
def test_the_fewest_changes_are_what_brute_force_finds(
    a: Model, b: Model, lower_is_better: bool
) -> None:
    most = 3
    found = swap_after(a, b, SCALE, lower_is_better=lower_is_better)
    expected = brute_force(a, b, -1 if lower_is_better else 1, most)
    assert found == expected or (expected is None and (found is None or found > most))


@given(CASES, CASES, st.booleans())
def test_one_change_swaps_where_it_leaves_no_lead(
    a: Model, b: Model, lower_is_better: bool
) -> None:
    left = lead_after_one_change(a, b, SCALE, lower_is_better=lower_is_better)
    changes = swap_after(a, b, SCALE, lower_is_better=lower_is_better)
    assert (left < -1e-9) == (changes == 1)


def test_a_repeat_moves_its_case_by_its_share() -> None:
    a, b = [[1, 1, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, 0]]
    assert lead_after_one_change(a, b, [0, 1], lower_is_better=False) == pytest.approx(0)
    assert swap_after(a, b, [0, 1], lower_is_better=False) == 2


def test_noise_is_no_lead() -> None:
    tenths = [0.1, 0.2, 0.3, 0.4]
    a, b = once([0.1 + 0.2]), once([0.3])
    assert swap_after(a, b, tenths, lower_is_better=False) == 1
    assert lead_after_one_change(a, b, tenths, lower_is_better=False) == pytest.approx(-0.2)


def test_a_tie_moves_in_whichever_direction_moves_it_most() -> None:
    assert lead_after_one_change([[0.0]], [[0.0]], [0, 1], lower_is_better=False) == -1
    assert swap_after([[0.0]], [[0.0]], [0, 1], lower_is_better=False) == 1


def test_where_nothing_can_move_nothing_swaps() -> None:
    assert swap_after([], [], SCALE, lower_is_better=False) is None
    assert lead_after_one_change([], [], SCALE, lower_is_better=False) == 0
    assert swap_after([[1.0]], [[1.0]], [1.0], lower_is_better=False) is None
