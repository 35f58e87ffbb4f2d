from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case, Language, Suite, Task
from evalbot.domain.rubrics import AutoGrade, ScorerName
from evalbot.errors import InputError
from evalbot.scoring import Scorer, split_thinking
from tests.growth import grows_with_its_size

from .grading import FUZZY, grade, outcome, rubric, scorer


@pytest.mark.parametrize("status", [status for status in AnswerStatus if status != "ok"])
def test_an_answer_that_is_not_ok_is_unscored_by_its_status(status: AnswerStatus) -> None:
    assert scorer("请关门").grade("c", status, "请关门") == AutoGrade(None, status.value, {})


@pytest.mark.parametrize("answer", ["", "  \n", "……", "！！", "「」", "\u200b"])
def test_nothing_but_punctuation_is_empty(answer: str) -> None:  # F5
    assert outcome(answer, "请关门") == "empty"
    assert outcome(answer, "！") == "empty"


def test_thinking_taken_out_leaves_the_answer() -> None:  # K1
    raw = "<think>候補は「窓」か「扉」</think>窓を開けてください"
    given = grade(split_thinking(raw).text, "窓を開けてください", target="ja")
    assert (given.verdict, given.evidence["ratio"]) == ("correct", 100)


def test_the_evidence_tells_all_and_is_json() -> None:
    given = grade("译文：请在10点关门", "请在9点关门", "把灯关掉")
    assert json.loads(json.dumps(given.evidence)) == {
        "scorer": "fuzzy",
        "folding": ["nfkc", "casefold", "punctuation", "script"],
        "flags": ["number_changed", "wrapper"],
        "nearest": "请在9点关门",
        "nearest_kind": "reference",
        "ratio": 76.9231,
        "edits": 2,
    }


def test_a_case_may_have_its_own_scorer() -> None:
    assert outcome("答案是北京", "北京", scorer="contains") == "correct"
    assert outcome("北京", "北京", scorer="none") == "needs_review"


def test_the_rubric_may_score_nothing() -> None:
    assert outcome("北京", "北京", auto=replace(FUZZY, scorer=ScorerName.NONE)) == "needs_review"


def test_an_unknown_scorer_is_refused() -> None:
    with pytest.raises(InputError, match="'bleu' is none of fuzzy"):
        scorer("北京", scorer="bleu")


def test_a_case_may_have_its_own_language() -> None:
    answer, reference = "図書館", "图书馆"
    assert outcome("圖書館", reference, language=Language(target="zh")) == "correct"
    assert outcome(answer, reference, language=Language(target="ja")) == "needs_review"


def test_an_answer_costs_the_same_however_many_cases_its_suite_has() -> None:
    chance = random.Random(1)
    characters = (
        "请确认订单数量会议推迟到周五举行离开前关灯记得把门锁好发票号码是明天下午在东京站等他来"
    )

    def text() -> str:
        return "".join(chance.choices(characters, k=chance.randint(12, 20)))

    def grade(size: int) -> None:
        cases = tuple(
            Case(f"c{number}", prompt="p", references=(text(), text(), text()))
            for number in range(size)
        )
        suite = Suite("s", "S", Task.TRANSLATION, "translation", cases, Language("ja", "zh"))
        graded = Scorer(rubric(), suite)
        for case in cases:
            graded.grade(case.key, AnswerStatus.OK, case.references[0][1:] + "。")

    assert grows_with_its_size(grade, 250)
