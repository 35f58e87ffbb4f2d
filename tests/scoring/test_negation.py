from __future__ import annotations

import pytest

from evalbot.scoring.negation import negation_changed

CHANGED = [
    ("zh", "会议不会推迟到周五举行", "会议会推迟到周五举行"),  # F3
    ("zh", "他没来", "他来了"),
    ("zh", "别开门", "开门"),
    ("zh", "请勿吸烟", "请吸烟"),
    ("zh", "未完成", "完成"),
    ("zh-Hant", "無法登入", "可以登入"),
    ("zh", "不是不会", "会"),
    ("ja", "この薬は食後に飲まないでください", "この薬は食後に飲んでください"),  # F3
    ("ja", "私は行きません", "私は行きます"),
    ("ja", "行かなかった", "行った"),
    ("ja", "知らずに開けた", "知って開けた"),
    ("ja", "触るな。", "触る。"),
    ("ja", "静かではなく", "静かで"),
    ("en", "the bridge is not open to trucks", "the bridge is open to trucks"),
    ("en", "It isn’t open", "It is open"),
    ("en", "without sugar", "with sugar"),
    ("en", "it is impossible", "it is possible"),
    (None, "不会", "会"),
    (None, "never", "ever"),
]


@pytest.mark.parametrize(("language", "one", "other"), CHANGED)
def test_a_lost_negation_is_noticed(language: str | None, one: str, other: str) -> None:
    assert negation_changed(one, other, language)
    assert negation_changed(other, one, language)


SAME = [
    ("zh", "不但好", "既好"),
    ("zh", "非常好", "很好"),
    ("zh", "特别好", "很好"),
    ("zh", "不得不去", "必须去"),
    ("zh", "你是不是累了", "你累了吗"),
    ("zh", "有没有水", "有水吗"),
    ("zh", "别人", "他人"),
    ("zh", "无论如何", "总之"),
    ("zh", "差不多", "几乎"),
    ("zh", "除非", "若"),
    ("zh", "没有来", "没来"),
    ("ja", "少ない", "わずかだ"),
    ("ja", "行かなければならない", "行くべきだ"),
    ("ja", "雨かもしれない", "雨だろう"),
    ("ja", "もったいない", "惜しい"),
    ("ja", "まず行く", "先に行く"),
    ("ja", "必ず行く", "きっと行く"),
    ("ja", "申し訳ありません", "失礼しました"),
    ("en", "not only good", "good"),
    ("en", "it doesn't", "it doesnt"),
    ("en", "No. 5", "number 5"),
]


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_words_that_only_look_negative_are_no_change(language: str, one: str, other: str) -> None:
    assert not negation_changed(one, other, language)
