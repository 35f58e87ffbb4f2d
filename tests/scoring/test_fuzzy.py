from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalbot.domain.rubrics import Band, ScaleStep

from .grading import FUZZY, SCALE, flags, grade, outcome

LONG = (
    "请在离开办公室之前关掉所有的灯并把门锁好然后把钥匙"
    "交给前台的同事保管直到下个工作日早晨再来取回使用"
)
BANDED = replace(FUZZY, bands=(Band(max_length=None, correct=98, acceptable=90),))
BY_RATIO = replace(BANDED, undecided="by_ratio", acceptable_from=60)


def changed(text: str, count: int) -> str:
    return "甲" * count + text[count:]


def test_equal_after_folding_is_correct() -> None:
    assert outcome("「请 关门」！", "请关门。") == "correct"


def test_any_reference_will_do() -> None:
    assert outcome("把门关上", "请关门", "把门关上") == "correct"


def test_an_acceptable_text_is_acceptable() -> None:
    assert outcome("关门", "请关门", acceptable=("关门",)) == "acceptable"


@pytest.mark.parametrize("answer", ["请开门", "请开门。", "那么请开门吧"])
def test_a_trap_said_or_held_is_wrong(answer: str) -> None:
    given = grade(answer, "请关门", traps=("请开门",))
    assert given.verdict == "wrong"
    assert given.evidence["flags"] == ["trap"]
    assert given.evidence["nearest_kind"] == "trap"


def test_a_trap_that_a_reference_holds_tells_nothing() -> None:
    assert outcome("请不要开门", "请不要开门", traps=("开门",)) == "correct"
    assert outcome("请别开门", "请不要开门", traps=("开门",)) == "needs_review"
    assert outcome("开门", "请不要开门", traps=("开门",)) == "wrong"


@pytest.mark.parametrize(
    "answer",
    [
        "昨天我给妈妈写了一封信。（“手紙”是信，不是中文的手纸。）",
        "昨天我给妈妈写了一封信。\n\n- 手紙：信（不是手纸）",
    ],
)
def test_a_trap_beside_a_whole_reference_goes_to_a_person(answer: str) -> None:
    given = grade(answer, "昨天我给妈妈写了一封信。", traps=("手纸",))
    assert given.unscored_reason == "needs_review"
    assert "trap" in given.evidence["flags"]


def test_a_trap_around_a_reference_or_without_one_is_wrong() -> None:
    assert outcome("请先不要开门", "开门", traps=("不要开门",)) == "wrong"
    assert outcome("昨天我给妈妈寄了手纸", "昨天我给妈妈写了一封信", traps=("手纸",)) == "wrong"


def test_a_trap_bridges_no_punctuation_that_it_does_not_have() -> None:
    reference, trap = "老师给我写了推荐信。", "为老师"
    said = outcome('这句话可以翻译为："老师给我写了推荐信。"', reference, traps=(trap,))
    assert said == "needs_review"
    assert "trap" not in flags('这句话翻译为："老师写了信"', reference, traps=(trap,))
    assert outcome("我为 老师写了信", reference, traps=(trap,)) == "wrong"
    assert outcome("这样，不行！我说", reference, traps=("不。行",)) == "wrong"
    assert outcome("他说不！行吧", reference, traps=("不，行",)) == "wrong"


def test_a_trap_in_a_remark_is_no_hit() -> None:
    assert outcome("请关门\n\n注：不是“请开门”。", "请关门", traps=("请开门",)) == "correct"


@pytest.mark.parametrize(
    ("answer", "reference", "target", "ratio", "flag"),
    [
        ("会议不会推迟到周五举行", "会议会推迟到周五举行", "zh", 95.2381, "negation_changed"),
        ("订单金额为3500元", "订单金额为8500元", "zh", 90.0, "number_changed"),
        ("三千五百万元", "三千五百亿元", "zh", 83.3333, "number_changed"),
        (
            "この薬は食後に飲まないでください",
            "この薬は食後に飲んでください",
            "ja",
            86.6667,
            "negation_changed",
        ),
        ("发票号码是88213", "发票号码是88231", "zh", 90.0, "number_changed"),
    ],
)
def test_a_high_ratio_with_another_meaning_is_never_correct(  # F3
    answer: str, reference: str, target: str, ratio: float, flag: str
) -> None:
    wide = replace(FUZZY, bands=(Band(correct=80),))
    given = grade(answer, reference, target=target, auto=wide)
    assert given.unscored_reason == "needs_review"
    assert given.evidence["ratio"] == ratio
    assert given.evidence["flags"] == [flag]
    assert given.evidence["cap"] in ("numbers", "negation")


def test_a_low_ratio_alone_is_not_wrong() -> None:  # F3
    given = grade("请在离开前关灯", "走之前记得把灯关掉")
    assert (given.unscored_reason, given.evidence["ratio"]) == ("needs_review", 25.0)


def test_a_ratio_under_wrong_below_is_wrong() -> None:
    auto = replace(FUZZY, wrong_below=30)
    assert outcome("请在离开前关灯", "走之前记得把灯关掉", auto=auto) == "wrong"


@pytest.mark.parametrize(
    ("answer", "reference"),
    [("是", "是的，不过需要先登录"), ("the bridge is open", "the bridge is not open to trucks")],
)
def test_a_part_of_the_reference_is_not_correct(answer: str, reference: str) -> None:  # F4
    assert outcome(answer, reference) == "needs_review"


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("35元", "3.5元"),
        ("5度", "−5度"),
        ("50人", "50%人"),
        ("1030", "10:30"),
        ("3500", "3,5,00"),
        ("102", "10²"),
        ("11⁄2", "1½"),
    ],
)
def test_punctuation_that_makes_a_number_is_not_lost(answer: str, reference: str) -> None:
    given = grade(answer, reference)
    assert given.unscored_reason == "needs_review"
    assert given.evidence["cap"] == "numbers"
    assert given.evidence["ratio"] == 100
    assert outcome(answer, reference, answer) == "correct"


def test_a_capped_equal_does_not_hide_a_trap() -> None:
    assert outcome("35元", "3.5元", traps=("35元",)) == "wrong"


def test_a_missing_critical_term_caps() -> None:
    answer = LONG.replace("钥匙", "卡")
    auto = replace(FUZZY, bands=(Band(correct=90),))
    assert outcome(answer, LONG, auto=auto) == "correct"
    given = grade(answer, LONG, auto=auto, critical=("钥匙", "护照"))
    assert given.evidence["cap"] == "critical"
    assert given.evidence["flags"] == ["critical_missing"]


def test_only_the_rubrics_caps_cap() -> None:
    auto = replace(FUZZY, bands=(Band(correct=80),), caps=())
    assert outcome("三千五百万元", "三千五百亿元", auto=auto) == "correct"
    assert flags("三千五百万元", "三千五百亿元", auto=auto) == ["number_changed"]


@pytest.mark.parametrize(
    ("length", "edits", "verdict"),
    [
        (19, 0, "correct"),
        (20, 0, "correct"),
        (20, 1, "needs_review"),
        (21, 1, "needs_review"),
        (49, 1, "needs_review"),
        (50, 1, "correct"),
        (99, 2, "needs_review"),
        (100, 2, "correct"),
    ],
)
def test_how_many_characters_may_differ_under_the_translation_rubric(
    length: int, edits: int, verdict: str
) -> None:
    reference = (LONG * 3)[:length]
    assert outcome(changed(reference, edits), reference) == verdict


def test_the_first_band_that_fits_counts_and_none_may_fit() -> None:
    auto = replace(FUZZY, bands=(Band(max_length=5, correct=50), Band(max_length=9, correct=90)))
    assert outcome("甲乙丙丁", "甲乙丙戊", auto=auto) == "correct"
    assert outcome("甲乙丙丁戊己", "甲乙丙丁戊庚", auto=auto) == "needs_review"
    assert outcome(changed(LONG, 1), LONG, auto=auto) == "needs_review"


def test_a_threshold_is_reached_by_the_exact_quotient() -> None:
    reference = (LONG * 3)[:100]
    auto = replace(FUZZY, bands=(Band(correct=93),))
    assert outcome(changed(reference, 7), reference, auto=auto) == "correct"


def test_a_band_may_give_acceptable() -> None:
    assert outcome(changed(LONG, 1), LONG, auto=BANDED) == "acceptable"
    assert outcome(changed(LONG, 9), LONG, auto=BANDED) == "needs_review"


def test_near_an_acceptable_text_is_at_most_acceptable() -> None:
    assert outcome(LONG[:-1], "请锁门", acceptable=(LONG,), auto=BANDED) == "acceptable"


@pytest.mark.parametrize(
    ("edits", "verdict"), [(0, "correct"), (1, "acceptable"), (19, "acceptable"), (20, "wrong")]
)
def test_by_ratio_gives_every_answer_a_verdict(edits: int, verdict: str) -> None:
    assert outcome(changed(LONG, edits), LONG, auto=BY_RATIO) == verdict


def test_by_ratio_knows_no_caps_but_traps() -> None:
    assert outcome("三千五百万元", "三千五百亿元", auto=BY_RATIO) == "acceptable"
    assert outcome("35元", "3.5元", auto=BY_RATIO) == "correct"
    assert outcome("请开门", "请关门", auto=BY_RATIO, traps=("请开门",)) == "wrong"


def test_without_texts_to_compare_a_person_decides() -> None:
    assert outcome("请关门") == "needs_review"
    assert outcome("请关门", auto=BY_RATIO) == "needs_review"
    assert outcome("请关门", traps=("请开门",), auto=BY_RATIO) == "needs_review"


def test_traditional_answers_are_flagged_and_judged_by_the_folding() -> None:  # F2
    answer, reference = "請確認訂單數量", "请确认订单数量"
    assert outcome(answer, reference) == "correct"
    assert flags(answer, reference) == ["script_differs"]
    without = replace(FUZZY, folding=("nfkc", "casefold", "punctuation"))
    given = grade(answer, reference, auto=without)
    assert given.unscored_reason == "needs_review"
    assert given.evidence["ratio"] == 14.2857
    assert given.evidence["flags"] == ["script_differs"]


def test_the_scale_names_the_verdicts() -> None:
    scale = (ScaleStep("gut", 1, ""), ScaleStep("fast", 0.7, ""), ScaleStep("falsch", 0, ""))
    assert outcome("请关门", "请关门", scale=scale) == "gut"
    assert outcome("关门", "请关门", acceptable=("关门",), scale=scale) == "fast"
    assert outcome("开门", "请关门", traps=("开门",), scale=scale) == "falsch"


def test_a_scale_without_a_middle_leaves_acceptable_answers_to_people() -> None:
    scale = (SCALE[0], SCALE[2])
    assert outcome("关门", "请关门", acceptable=("关门",), scale=scale) == "needs_review"
    assert outcome("请关窗", "请关门", auto=BY_RATIO, scale=scale) == "wrong"


TEXTS = st.text("请关门不要开3点5，。会议ab cA", min_size=1, max_size=30)


@given(TEXTS)
def test_a_text_equals_itself(text: str) -> None:
    assume(outcome(text, "请") != "empty")
    assert outcome(text, text) == "correct"


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4), st.randoms())
def test_the_order_of_references_does_not_matter(
    answer: str, references: list[str], chance: Random
) -> None:
    shuffled = list(references)
    chance.shuffle(shuffled)
    for auto in (FUZZY, BANDED, BY_RATIO):
        assert grade(answer, *references, auto=auto) == grade(answer, *shuffled, auto=auto)


@given(
    st.integers(0, 99999),
    st.integers(0, 4),
    st.integers(1, 9),
    st.sampled_from(["共{}元", "编号{}，" + LONG, LONG + "第{}号", LONG * 4 + "{}%"]),
)
def test_a_changed_digit_is_never_correct(value: int, place: int, step: int, text: str) -> None:
    digits = f"{value + 100000}"
    place += 1
    other = digits[:place] + str((int(digits[place]) + step) % 10) + digits[place + 1 :]
    assert outcome(text.format(other), text.format(digits)) == "needs_review"
