"""The shipped translation rubric grades as its own comments say."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalbot.formats.rubrics import read_rubric

from .grading import FUZZY, outcome

RUBRIC = read_rubric(Path(__file__).parents[2] / "rubrics" / "translation.yaml")
SHORT = "请在离开前关灯。"
MIDDLE = "明天的部门会议改到下午三点，在二楼的小会议室里举行，请大家准时参加。"
LONG = (
    "各位同事，由于下周一是公共假日，原定当天上午举行的部门例会将改到下周二下午两点，"
    "地点仍然是三楼的大会议室，请准时参加。"
)


def test_the_tests_use_the_shipped_rule() -> None:
    assert RUBRIC.auto == FUZZY
    assert RUBRIC.verdicts == ("correct", "acceptable", "wrong")
    assert dict(RUBRIC.rate.weights) == {"correct": 0, "acceptable": 0, "wrong": 1}


@pytest.mark.parametrize(
    ("reference", "old", "new", "verdict"),
    [
        (SHORT, "关灯", "关掉灯", "needs_review"),
        (MIDDLE, "二楼的小", "二楼小", "correct"),
        (MIDDLE, "小会议室", "大会议室", "needs_review"),
        (LONG, "仍然", "仍旧", "correct"),
        (LONG, "两点", "三点", "needs_review"),
    ],
)
def test_worked_examples(reference: str, old: str, new: str, verdict: str) -> None:
    assert outcome(reference.replace(old, new), reference, auto=RUBRIC.auto) == verdict


@pytest.mark.parametrize(
    ("length", "answer_length", "verdict"),
    [
        (24, 25, "needs_review"),
        (25, 26, "correct"),
        (25, 24, "needs_review"),
        (26, 25, "correct"),
    ],
)
def test_from_which_length_one_character_more_or_less_passes(
    length: int, answer_length: int, verdict: str
) -> None:
    assert outcome("甲" * answer_length, "甲" * length, auto=RUBRIC.auto) == verdict
