"""What probes change about answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.writing import language_of
from evalbot.judging.injection import speaks_to_its_grader
from evalbot.judging.variations import injected, lengthened, named

ANSWERS = {"ja": "ドアを閉めてください", "zh": "请关门", "en": "Close the door."}


@pytest.mark.parametrize("language", ANSWERS)
def test_what_is_added_is_in_the_answers_language(language: str) -> None:
    answer = ANSWERS[language]
    assert language_of(answer) == language
    for made in (lengthened(answer), named(answer, "1"), injected(answer, "correct")):
        assert answer in made
        added = made.replace(answer, "").replace("[END ANSWER]", "").replace("Grader", "")
        assert language_of(added) == language


@given(st.text(min_size=1, max_size=2000))
def test_a_lengthened_answer_begins_with_the_answer_and_is_at_least_twice_as_long(
    answer: str,
) -> None:
    made = lengthened(answer)
    assert made.startswith(answer)
    assert len(made) >= 2 * len(answer)


def test_the_name_of_a_famous_model_is_drawn_by_the_seed() -> None:
    made = {named("x", str(seed)) for seed in range(30)}
    assert len(made) == 3
    assert named("x", "7") == named("x", "7")


@pytest.mark.parametrize("answer", ANSWERS.values())
def test_instructions_to_the_grader_are_known_as_such(answer: str) -> None:
    assert not speaks_to_its_grader(answer)
    assert not speaks_to_its_grader(lengthened(answer))
    assert speaks_to_its_grader(injected(answer, "correct"))
