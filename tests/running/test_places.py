from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import FAILED_ON_THE_WAY, AnswerStatus, Place
from evalbot.domain.cases import Case, Suite, Task
from evalbot.domain.rubrics import RateRule, Rubric
from evalbot.domain.runs import Run, RunState
from evalbot.running.estimate import rough_tokens
from evalbot.running.places import count_to_ask, places_to_ask
from evalbot.store.answers import Asked

SUITE = Suite("s", "S", Task.CHAT, "r", tuple(Case(key, prompt=key) for key in "abc"))
RUBRIC = Rubric("r", "1", "R", (), RateRule("e", "E", "lower", {}))


def run_of(repeats: int) -> Run:
    return Run("r1", SUITE, RUBRIC, {}, RunState.RUNNING, repeats, datetime(2026, 1, 1, tzinfo=UTC))


def asked_again(asked: Mapping[Place, Asked], *, retry_failed: bool = False) -> list[str]:
    places = places_to_ask(run_of(2), "e", asked, retry_failed=retry_failed)
    return [f"{one.place.case}{one.place.repeat}:{one.attempt}" for one in places]


def test_all_cases_come_once_before_any_comes_twice() -> None:
    assert asked_again({}) == ["a1:1", "b1:1", "c1:1", "a2:1", "b2:1", "c2:1"]


@pytest.mark.parametrize("status", list(AnswerStatus))
def test_which_answers_are_asked_again(status: AnswerStatus) -> None:
    asked = {Place(case, "e", n): Asked(1, AnswerStatus.OK) for case in "abc" for n in (1, 2)}
    asked[Place("b", "e", 2)] = Asked(3, status)
    cancelled = status is AnswerStatus.CANCELLED
    assert asked_again(asked) == (["b2:4"] if cancelled else [])
    failed = status in FAILED_ON_THE_WAY
    assert asked_again(asked, retry_failed=True) == (["b2:4"] if cancelled or failed else [])


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.integers(1, 2)), st.sampled_from(list(AnswerStatus))
    ),
    st.booleans(),
)
def test_the_count_is_the_number_of_places(
    found: dict[tuple[str, int], AnswerStatus], retry_failed: bool
) -> None:
    asked = {Place(case, "e", repeat): Asked(1, s) for (case, repeat), s in found.items()}
    count = count_to_ask(run_of(2), "e", asked, retry_failed=retry_failed)
    assert count == len(asked_again(asked, retry_failed=retry_failed))


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("東京", 2), ("東京ab", 3)]
)
def test_tokens_are_guessed(text: str, tokens: int) -> None:
    assert rough_tokens(text) == tokens
