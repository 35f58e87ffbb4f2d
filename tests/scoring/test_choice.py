from __future__ import annotations

from dataclasses import replace

import pytest

from evalbot.domain.rubrics import ScorerName

from .grading import FUZZY, outcome

CHOICE = replace(FUZZY, scorer=ScorerName.CHOICE)
CITIES = ("北京", "上海", "上海市中心", "广州")


@pytest.mark.parametrize("reference", ["B", "上海", "B. 上海"])
@pytest.mark.parametrize(
    "answer",
    [
        "B",
        "b",
        "(B)",
        "B.",
        "**B**",
        "Answer: B",
        "答案是B",
        "答え：B",
        "选B",
        "上海",
        "B. 上海",
        "The answer is **B**",
        "正确答案是上海。",
        "Ｂ",
        "B, because of the sea",
    ],
)
def test_the_right_choice_is_found(answer: str, reference: str) -> None:
    assert outcome(answer, reference, choices=CITIES, auto=CHOICE) == "correct"


@pytest.mark.parametrize(
    "answer", ["A", "C.", "答案：D", "上海市中心", "The answer is (A).", "北京"]
)
def test_another_choice_is_wrong(answer: str) -> None:
    assert outcome(answer, "B", choices=CITIES, auto=CHOICE) == "wrong"


@pytest.mark.parametrize(
    "answer",
    [
        "B or C",
        "A和B都可以",
        "The answer is B. No, the answer is C.",
        "上海或北京",
        "C. 上海",
        "It is not B.",
        "我不知道",
        "The answer is a matter of taste",
        "E",
    ],
)
def test_two_choices_or_none_go_to_a_person(answer: str) -> None:
    assert outcome(answer, "B", choices=CITIES, auto=CHOICE) == "needs_review"


@pytest.mark.parametrize(
    "answer",
    [
        "Option A is incorrect",
        "选A是错误的",
        "答えはAではない",
        "A以外",
        "排除A",
        "Anything but Paris",
        "All but A",
        "I rule out A.",
        "Answer: A. Wait, no, B",
        "答案是A，不对，是B",
        "Answer: A (wrong)",
        "答案是 A，不是 C",
        "除了A",
        "Aは間違い",
        "Paris is false.",
    ],
)
@pytest.mark.parametrize("choices", [(), ("Paris", "Rome", "Oslo")])
@pytest.mark.parametrize("reference", ["A", "B"])
def test_a_denial_beside_the_choice_goes_to_a_person(
    answer: str, choices: tuple[str, ...], reference: str
) -> None:
    assert outcome(answer, reference, choices=choices, auto=CHOICE) == "needs_review"


def test_a_denial_in_the_text_of_the_choice_is_no_denial() -> None:
    choices = ("Yes", "No", "None of these", "除了北京")
    for answer, letter in (
        ("No.", "B"),
        ("Answer: No", "B"),
        ("The answer is C. None of these", "C"),
        ("D. 除了北京", "D"),
    ):
        assert outcome(answer, letter, choices=choices, auto=CHOICE) == "correct"
    assert outcome("It is not C, none of these", "C", choices=choices, auto=CHOICE) == (
        "needs_review"
    )


def test_an_acceptable_choice_is_acceptable() -> None:
    given = outcome("C", "B", acceptable=("C",), choices=CITIES, auto=CHOICE)
    assert given == "acceptable"


def test_letters_serve_where_the_prompt_holds_the_choices() -> None:
    assert outcome("答案是C", "C", auto=CHOICE) == "correct"
    assert outcome("答案是D", "C", auto=CHOICE) == "wrong"


def test_choices_may_bring_their_letters() -> None:
    lettered = ("A. 北京", "B. 上海")
    assert outcome("上海", "B", choices=lettered, auto=CHOICE) == "correct"
    assert outcome("B", "上海", choices=lettered, auto=CHOICE) == "correct"
