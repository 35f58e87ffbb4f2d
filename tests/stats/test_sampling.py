"""Draws with known chances: statistics.md's oracles, and what must always hold."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.sampling import (
    draw_all,
    draw_random,
    draw_stratified,
    draw_uncertain,
    joined_probability,
    uncertain_probabilities,
)

UNITS = [f"u{n}" for n in range(40)]
SCORES = dict(zip("abcdef", [0.1, 0.6, 0.5, 0.9, 0.1, 0.2], strict=True))


def test_the_oracle_of_uncertain_chances() -> None:
    found = uncertain_probabilities(SCORES, 3)
    assert list(found.values()) == pytest.approx([0.3125, 0.625, 0.5625, 0.8125, 0.3125, 0.375])
    assert sum(found.values()) == pytest.approx(3)


def test_weighing_by_these_chances_is_unbiased_over_all_draws() -> None:
    """All 64 outcomes of the six coins (statistics.md, f)."""
    judged = dict(zip("abcdef", [1, 1, 0.5, 0.5, 0, 1], strict=True))
    people = dict(zip("abcdef", [1, 0.5, 0.5, 0, 0, 1], strict=True))
    chances = uncertain_probabilities(SCORES, 3)
    mean = 0.0
    for coins in product((0, 1), repeat=6):
        weight, estimate = 1.0, 0.0
        for unit, coin in zip(chances, coins, strict=True):
            weight *= chances[unit] if coin else 1 - chances[unit]
            shift = (people[unit] - judged[unit]) * coin / chances[unit]
            estimate += (judged[unit] + shift) / 6
        mean += weight * estimate
    assert mean == pytest.approx(0.5)


def test_all_are_certain() -> None:
    assert {one.probability for one in draw_all(UNITS)} == {1.0}


@given(st.integers(0, 60), st.integers())
def test_a_random_draw_has_its_size_and_one_chance(size: int, seed: int) -> None:
    drawn = draw_random(UNITS, size, Random(seed))
    assert len({one.unit for one in drawn}) == len(drawn) == min(size, 40)
    assert all(one.probability == min(size, 40) / 40 for one in drawn)


@given(
    st.dictionaries(st.sampled_from(UNITS), st.sampled_from("xyz"), min_size=1),
    st.integers(0, 60),
    st.integers(),
)
def test_every_stratum_gives_its_share(strata: dict[str, str], size: int, seed: int) -> None:
    drawn = draw_stratified(strata, size, Random(seed))
    taken = Counter(one.stratum for one in drawn)
    sizes = Counter(strata.values())
    assert set(taken) == set(sizes)
    assert len(drawn) == max(len(sizes), min(size, len(strata)))
    for one in drawn:
        assert one.stratum == strata[one.unit]
        assert one.probability == taken[one.stratum] / sizes[str(one.stratum)]


def test_shares_are_proportional() -> None:
    strata = {f"u{n}": "abc"[0 if n < 20 else 1 if n < 50 else 2] for n in range(100)}
    drawn = draw_stratified(strata, 20, Random(1))
    assert Counter(one.stratum for one in drawn) == {"a": 4, "b": 6, "c": 10}


@given(
    st.dictionaries(st.sampled_from(UNITS), st.floats(0, 10), min_size=1),
    st.integers(1, 60),
)
def test_no_chance_is_0_or_above_1(scores: dict[str, float], size: int) -> None:
    found = uncertain_probabilities(scores, size)
    assert all(0 < chance <= 1 for chance in found.values())
    assert sum(found.values()) <= size + 1e-6


def test_an_uncertain_draw_meets_its_chances() -> None:
    counts: Counter[str] = Counter()
    for seed in range(4000):
        counts.update(one.unit for one in draw_uncertain(SCORES, 3, Random(seed)))
    for unit, chance in uncertain_probabilities(SCORES, 3).items():
        assert counts[unit] / 4000 == pytest.approx(chance, abs=0.04)


def test_the_same_seed_draws_the_same() -> None:
    assert draw_random(UNITS, 9, Random(3)) == draw_random(UNITS, 9, Random(3))


def test_chances_of_an_extended_draw() -> None:
    assert joined_probability(0.5, 0.5) == 0.75
    assert joined_probability(1.0, 0.2) == 1.0
