from __future__ import annotations

from dataclasses import replace

import pytest

from evalbot.domain.rubrics import ScorerName

from .grading import FUZZY, outcome

CONTAINS = replace(FUZZY, scorer=ScorerName.CONTAINS)


@pytest.mark.parametrize(
    ("answer", "reference", "verdict"),
    [
        ("答案是北京。", "北京", "correct"),
        ("我在北京·大学读书", "北京大学", "correct"),
        ("It is 12.", "12", "correct"),
        ("The Cat sat", "cat", "correct"),
        ("答案是十二", "十二", "correct"),
        ("第12章", "12", "correct"),
        ("112", "12", "wrong"),
        ("concatenate", "cat", "wrong"),
        ("x1 2", "12", "wrong"),
        ("上海", "北京", "wrong"),
        ("大约3.5公里", "5", "needs_review"),
        ("一共十三个", "三", "needs_review"),
        ("−5度", "5", "needs_review"),
        ("先是15，后来是5", "5", "correct"),
    ],
)
def test_words_and_numbers_are_held_whole(answer: str, reference: str, verdict: str) -> None:
    assert outcome(answer, reference, auto=CONTAINS) == verdict


def test_acceptable_texts_and_traps() -> None:
    texts = {"acceptable": ("帝都",), "traps": ("上海",), "auto": CONTAINS}
    assert outcome("在帝都", "北京", **texts) == "acceptable"
    assert outcome("北京或上海", "北京", **texts) == "wrong"
    assert outcome("北京", "北京", **texts) == "correct"


def test_without_the_punctuation_folding_punctuation_counts() -> None:
    auto = replace(CONTAINS, folding=("nfkc",))
    assert outcome("see a.b here", "a.b", auto=auto) == "correct"
    assert outcome("see ab here", "a.b", auto=auto) == "wrong"
