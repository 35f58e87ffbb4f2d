from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalbot.errors import InputError
from evalbot.scoring.normalise import FOLDINGS, Folder, drop_punctuation, nfkc, to_simplified

CHINESE = Folder(FOLDINGS, "zh-Hans")
JAPANESE = Folder(FOLDINGS, "ja")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("第３章：概要（改訂版）", "第3章:概要(改訂版)"),  # F1
        ("ｻｰﾊﾞｰを再起動", "サーバーを再起動"),
        ("カ\u3099イト\u3099フ\u3099ック", "ガイドブック"),
        ("１２３ＡＢＣ", "123abc"),
        ("葛\U000e0100城", "葛城"),
        ("「はい」。", "はい"),
        ("行こう〜", "行こう～"),
        ("a b\tc\nd\u3000e\u200bf", "abcdef"),
        ("Straße", "STRASSE"),
        ("神\ufe00社", "神社"),
        ("－５", "−5"),
    ],
)
def test_spellings_of_one_text_fold_to_the_same(one: str, other: str) -> None:
    assert JAPANESE.fold(one) == JAPANESE.fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("サーバー", "サーバ"),
        ("髙橋", "高橋"),
        ("斎藤", "齋藤"),
        ("我喜歡貓", "我喜欢猫"),  # Japanese target: script is not folded
        ("a<b", "a>b"),
        ("5$", "5€"),
        ("C++", "C"),
    ],
)
def test_other_texts_stay_different(one: str, other: str) -> None:
    assert JAPANESE.fold(one) != JAPANESE.fold(other)


def test_traditional_folds_to_simplified_for_chinese_targets_only() -> None:
    assert CHINESE.fold("請確認訂單數量") == "请确认订单数量"
    assert JAPANESE.fold("東京の図書館で勉強する") == "東京の図書館で勉強する"
    assert CHINESE.names == FOLDINGS
    assert JAPANESE.names == FOLDINGS[:3]


def test_nfkc_folds_circled_and_raised_digits_too() -> None:
    assert nfkc("①²㎏") == "12kg"


def test_only_listed_foldings_apply() -> None:
    assert Folder((), "zh").fold("Ａ。 請") == "Ａ。 請"
    assert Folder(("casefold",), "zh").fold("A。 請") == "a。 請"


def test_half_a_surrogate_pair_does_no_harm() -> None:
    assert to_simplified("請\ud800") == "请\ufffd"


def test_an_unknown_folding_is_refused() -> None:
    with pytest.raises(InputError, match="'lower' is none of nfkc"):
        Folder(("lower",), "zh")


@given(st.text())
@example("e.\u0301")
@example("ΐ")
@example("薴")
@example("T¨")
@example("e\ufe0f\u0301")
def test_folding_twice_changes_nothing(text: str) -> None:
    for folder in (CHINESE, JAPANESE):
        assert folder.fold(folder.fold(text)) == folder.fold(text)


@given(st.text(alphabet=st.characters(categories=("P", "Z", "Cc", "Cf"))))
def test_punctuation_and_spaces_are_nothing(text: str) -> None:
    assert drop_punctuation(text) == ""
