"""Letters of groups that cannot be told apart."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.letters import letters


def pairs(*names: str) -> list[frozenset[str]]:
    return [frozenset(pair.split("-")) for pair in names]


@pytest.mark.parametrize(
    ("separable", "expected"),
    [
        ([], {"A": "a", "B": "a", "C": "a"}),
        (["A-C"], {"A": "a", "B": "ab", "C": "b"}),
        (["A-C", "A-B"], {"A": "a", "B": "b", "C": "b"}),
        (["A-B", "A-C", "B-C"], {"A": "a", "B": "b", "C": "c"}),
        # The middle one is apart from both, the outer ones from nobody else.
        (["A-B", "B-C"], {"A": "a", "B": "b", "C": "a"}),
        # Of names that are not shown.
        (["A-D", "A-C"], {"A": "a", "B": "ab", "C": "b"}),
    ],
)
def test_letters_of_three(separable: list[str], expected: dict[str, str]) -> None:
    assert letters("ABC", pairs(*separable)) == expected


def test_nobody_has_no_letters_and_one_has_a() -> None:
    assert letters([], []) == {}
    assert letters(["only"], []) == {"only": "a"}


def sets_of(found: dict[str, str]) -> dict[str, set[str]]:
    many = any("," in value for value in found.values())
    return {n: set(value.split(",") if many else value) for n, value in found.items()}


NAMES = [f"m{number}" for number in range(9)]
PAIRS = [frozenset(pair) for pair in combinations(NAMES, 2)]


@given(st.permutations(NAMES), st.sets(st.sampled_from(PAIRS)))
def test_two_share_a_letter_if_and_only_if_they_cannot_be_told_apart(
    names: list[str], separable: set[frozenset[str]]
) -> None:
    found = letters(names, separable)
    assert list(found) == names
    assert found[names[0]].startswith("a")
    carried = sets_of(found)
    for pair in PAIRS:
        one, other = pair
        assert bool(carried[one] & carried[other]) == (pair not in separable)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=9), st.integers(0, 20))
def test_the_order_of_the_pairs_decides_nothing(rates: list[int], gap: int) -> None:
    names = [f"m{n}" for n in range(len(rates))]
    apart = [
        frozenset({names[i], names[j]})
        for i, j in combinations(range(len(rates)), 2)
        if abs(rates[i] - rates[j]) > gap
    ]
    assert letters(names, apart) == letters(names, apart[::-1])


def test_more_groups_than_letters_have_names_with_commas_between() -> None:
    names = [f"m{number:02}" for number in range(30)]
    # Neighbours cannot be told apart: 29 groups of two.
    apart = [frozenset({a, b}) for (i, a), (j, b) in combinations(enumerate(names), 2) if j > i + 1]
    found = letters(names, apart)
    assert found["m00"] == "a"
    assert found["m01"] == "a,b"
    assert found["m26"] == "z,aa"
    assert found["m29"] == "ac"


def test_many_models_whose_groups_would_be_millions_have_their_letters() -> None:
    """Each is told from one other alone: 2³⁰ sets of models go together."""
    names = [f"m{n}" for n in range(60)]
    separable = {frozenset((f"m{n}", f"m{n + 30}")) for n in range(30)}
    found = {name: set(own.split(",")) for name, own in letters(names, separable).items()}
    for one, other in combinations(names, 2):
        assert bool(found[one] & found[other]) == (frozenset((one, other)) not in separable)
    assert len(set.union(*found.values())) <= 60 * 59 / 2
