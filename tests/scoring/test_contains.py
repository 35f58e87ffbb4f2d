from __future__ import annotations

from dataclasses import replace

import pytest

from evalbot.domain.rubrics import ScorerName

from .grading import FUZZY, grade, outcome

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


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("The answer is 35.", "3.5"),
        ("It is 5 degrees.", "-5"),
        ("-5", "5"),
        ("minus 5", "5"),
        ("‑5", "5"),
        ("12 million", "12"),
        ("3 hundred", "3"),
        ("1/2", "1"),
        ("1 / 2", "2"),
        ("12", "1/2"),
        ("10^3", "10"),
        ("10³", "103"),
        ("10³", "10"),
        ("10%", "10"),
        ("5 万", "5"),
        ("5 x 10^3", "5"),
        ("12 000", "12"),
        ("1939-1945", "1945"),
        ("56", "5-6"),
        ("5-6", "56"),
        ("十三", "三"),
        ("一百零五", "一百"),
        ("三分之一", "三"),
        ("fifty-four", "four"),
        ("I am here", "a.m."),
        ("Use C++.", "C"),
        ("Use C#.", "C"),
        ("Use C.", "C#"),
    ],
)
def test_a_part_of_a_number_and_a_match_by_dropped_punctuation_go_to_a_person(
    answer: str, reference: str
) -> None:
    auto = replace(CONTAINS, caps=())
    assert outcome(answer, reference, auto=auto, target="en") == "needs_review"


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("2 + 2 = 4", "4"),
        ("2+2=4", "4"),
        ("2+2=**4**", "4"),
        ("7 + 5 = 12.", "12"),
        ("9 × 6 = 54", "54"),
        ("The Second World War ended in 1945.", "1945"),
        ("A spider has 8 legs.", "8"),
        ("It is -5 degrees.", "-5"),
        ("It is 3.5.", "3.5"),
        ("It is 1/2.", "1/2"),
        ("It is 10³.", "10³"),
        ("It has 12,000 seats", "12000"),
        ("About 50% of them", "50%"),
        ("fifty four", "fifty-four"),
        ("In July 1969", "July"),
        ("At 5 A.M. sharp", "a.m."),
        ("It is C#.", "C#"),
        ("It is C++.", "C++"),
        ("About 10km", "10 km"),
        ("H2O.", "H₂O"),
        ("It is “New York”.", "New York."),
        ("1/2 or 1", "1"),
    ],
)
def test_other_numbers_and_punctuation_around_the_match_do_not_matter(
    answer: str, reference: str
) -> None:
    auto = replace(CONTAINS, caps=())
    assert outcome(answer, reference, auto=auto, target="en") == "correct"


def test_a_denied_match_goes_to_a_person_where_negations_are_capped() -> None:
    auto = replace(CONTAINS, caps=("negation",))
    for answer in ("It is not Paris.", "Anything but Paris", "Paris is wrong.", "Not Paris"):
        given = grade(answer, "Paris", auto=auto, target="en")
        assert (given.unscored_reason, given.evidence["cap"]) == ("needs_review", "negation")
    assert outcome("It is Paris.", "Paris", auto=auto, target="en") == "correct"
    assert outcome("It is not Paris.", "not Paris", auto=auto, target="en") == "correct"
    assert outcome("It is not Rome.", "Paris", auto=auto, target="en") == "wrong"
    assert outcome("It is not Paris.", "Paris", auto=replace(auto, caps=()), target="en") == (
        "correct"
    )


def test_acceptable_texts_and_traps() -> None:
    texts = {"acceptable": ("帝都",), "traps": ("上海",), "auto": CONTAINS}
    assert outcome("在帝都", "北京", **texts) == "acceptable"
    assert outcome("在上海", "北京", **texts) == "wrong"
    assert outcome("北京或上海", "北京", **texts) == "needs_review"
    assert outcome("北京,不是上海", "北京", **texts) == "needs_review"
    assert outcome("北京", "北京", **texts) == "correct"


def test_without_the_punctuation_folding_punctuation_counts() -> None:
    auto = replace(CONTAINS, folding=("nfkc",))
    assert outcome("see a.b here", "a.b", auto=auto) == "correct"
    assert outcome("see ab here", "a.b", auto=auto) == "wrong"
