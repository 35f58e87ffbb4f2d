from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.votes import entropy, majority

VERDICTS = st.lists(st.sampled_from(["correct", "acceptable", "wrong"]), max_size=12)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["a"], "a"),
        (["a", "b", "a"], "a"),
        (["a", "b"], None),
        (["a", "a", "b", "b"], None),
        # The most frequent one is not enough.
        (["a", "a", "b", "c"], None),
        ([], None),
    ],
)
def test_a_majority_is_more_than_half(verdicts: list[str], expected: str | None) -> None:
    assert majority(verdicts) == expected


@pytest.mark.parametrize(
    ("verdicts", "bits"),
    [
        (["a", "a", "a"], 0),
        (["a", "b"], 1),
        (["a", "b", "c", "d"], 2),
        (["a", "a", "b"], math.log2(3) - 2 / 3),
        ([], None),
    ],
)
def test_entropy_in_bits(verdicts: list[str], bits: float | None) -> None:
    assert entropy(verdicts) == (None if bits is None else pytest.approx(bits))


@given(VERDICTS)
def test_one_mind_has_no_entropy_and_no_order_matters(verdicts: list[str]) -> None:
    found = entropy(verdicts)
    assert (found == 0) == (len(set(verdicts)) == 1)
    assert entropy(verdicts[::-1]) == (None if found is None else pytest.approx(found))
    assert majority(verdicts) == majority(verdicts[::-1])
