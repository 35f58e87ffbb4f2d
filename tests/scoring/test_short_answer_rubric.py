"""The shipped short-answer rubric over the demo suite: plain sentences are right answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.formats.catalogue import find_rubric, list_suites
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.scoring import Scorer

NOWHERE = Path("/nonexistent")
DEMO = read_suite(list_suites(NOWHERE)["demo"])
SCORER = Scorer(read_rubric(find_rubric(DEMO.rubric, NOWHERE)), DEMO)


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ("capital-france", "The capital of France is Paris."),
        ("symbol-water", "The chemical symbol for water is H2O."),
        ("plural-mouse", 'The plural of "mouse" is "mice".'),
        ("largest-ocean", "The largest ocean is the Pacific Ocean."),
        ("two-plus-two", "2 + 2 = 4"),
        ("seven-plus-five", "7 + 5 = 12."),
        ("war-end", "The Second World War ended in 1945."),
        ("spider-legs", "A spider has 8 legs."),
    ],
)
def test_a_reference_in_a_sentence_is_correct(case: str, answer: str) -> None:
    assert SCORER.grade(case, AnswerStatus.OK, answer).verdict == "correct"


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ("capital-france", "It is not Paris."),
        ("capital-france", "Anything but Paris."),
        ("two-plus-two", "It is -4."),
        ("nine-times-six", "5.4"),
    ],
)
def test_a_denied_or_other_answer_that_holds_a_reference_goes_to_a_person(
    case: str, answer: str
) -> None:
    grade = SCORER.grade(case, AnswerStatus.OK, answer)
    assert (grade.verdict, grade.unscored_reason) == (None, "needs_review")
