from __future__ import annotations

from dataclasses import replace

import pytest

from evalbot.domain.rubrics import ScorerName

from .grading import FUZZY, grade, outcome

EXACT = replace(FUZZY, scorer=ScorerName.EXACT)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("请关门！", "correct"),
        ("译文：请关门", "correct"),
        ("关门", "acceptable"),
        ("请开门", "wrong"),
        ("请关门吧", "wrong"),
    ],
)
def test_equal_or_wrong(answer: str, verdict: str) -> None:
    given = outcome(answer, "请关门", acceptable=("关门",), traps=("请开门",), auto=EXACT)
    assert given == verdict


def test_numbers_made_equal_by_dropped_punctuation_go_to_a_person() -> None:
    given = grade("35元", "3.5元", auto=EXACT)
    assert (given.unscored_reason, given.evidence["cap"]) == ("needs_review", "numbers")


@pytest.mark.parametrize(
    ("answer", "reference"),
    [("5", "−5"), ("1/2", "12"), ("10%", "10"), ("1-2", "1/2"), ("am", "a.m."), ("10³", "103")],
)
def test_equality_by_dropped_punctuation_goes_to_a_person_without_a_cap(
    answer: str, reference: str
) -> None:
    assert outcome(answer, reference, auto=replace(EXACT, caps=())) == "needs_review"


@pytest.mark.parametrize(
    ("answer", "reference"),
    [("12,000", "12000"), ("“New York”.", "New-York"), ("-5", "−5"), ("10 km", "10km")],
)
def test_punctuation_that_says_nothing_is_dropped(answer: str, reference: str) -> None:
    assert outcome(answer, reference, auto=replace(EXACT, caps=())) == "correct"


def test_a_miss_tells_the_nearest_reference() -> None:
    evidence = grade("请关窗", "请关门", "开灯", auto=EXACT).evidence
    assert (evidence["nearest"], evidence["edits"]) == ("请关门", 1)


def test_without_a_reference_there_is_nothing_to_miss() -> None:
    assert outcome("请关门", traps=("请开门",), auto=EXACT) == "needs_review"
