"""The table of statistics.md, section h: ratio and chrF2 of raw texts."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz
from sacrebleu.metrics import BLEU

from evalbot.scoring import chrf
from evalbot.scoring.normalise import nfkc

from .grading import grade

TABLE = [
    ("猫が好きです。", "猫が大好きです。", 93.3333, 47.1781),
    ("東京都", "东京都", 66.6667, 38.8889),
    ("１２３ＡＢＣ", "123ABC", 0, 0),
    ("ｶﾞｷﾞ", "ガギ", 0, 0),
    ("彼は学生です", "彼女は学生です", 92.3077, 51.3859),
    ("我喜歡貓", "我喜欢猫", 50, 20.8333),
    ("髙橋", "高橋", 50, 25),
    ("斎藤", "齋藤", 50, 25),
    ("私は行きません", "私は行きます", 76.9231, 56.2269),
    ("「はい」。", "はい", 57.1429, 70.6522),
    ("サーバー", "サーバ", 85.7143, 89.8438),
    ("行う", "行なう", 80, 35.7143),
    ("はい", "いいえ", 40, 17.8571),
]
UNFOLDED = {"１２３ＡＢＣ", "ｶﾞｷﾞ", "「はい」。", "猫が好きです。"}
FOLDED_RATIO = [
    ("猫が好きです。", "猫が大好きです。", 92.3077),
    ("１２３ＡＢＣ", "123ABC", 100),
    ("ｶﾞｷﾞ", "ガギ", 100),
    ("「はい」。", "はい", 100),
    *((one, other, ratio) for one, other, ratio, _ in TABLE if one not in UNFOLDED),
]


@pytest.mark.parametrize(("answer", "reference", "ratio", "score"), TABLE)
def test_raw_ratio_and_chrf(answer: str, reference: str, ratio: float, score: float) -> None:
    assert fuzz.ratio(answer, reference) == pytest.approx(ratio, abs=5e-5)
    assert chrf(answer, [reference]) == pytest.approx(score, abs=6e-5)


@pytest.mark.parametrize(("answer", "reference", "ratio"), FOLDED_RATIO)
def test_the_evidence_holds_the_ratio_of_the_folded_texts(
    answer: str, reference: str, ratio: float
) -> None:
    assert grade(answer, reference, target="ja").evidence["ratio"] == ratio


def test_nfkc_makes_width_nothing() -> None:
    assert fuzz.ratio(nfkc("１２３ＡＢＣ"), "123ABC") == 100
    assert fuzz.ratio(nfkc("ｶﾞｷﾞ"), "ガギ") == 100


@pytest.mark.parametrize(
    ("length", "ratio"),
    [(2, 50), (3, 66.6667), (4, 75), (5, 80), (8, 87.5), (12, 91.6667), (20, 95)],
)
def test_one_substituted_character_costs_its_share(length: int, ratio: float) -> None:
    given = grade("乙" + "甲" * (length - 1), "甲" * length)
    assert (given.evidence["ratio"], given.evidence["edits"]) == (ratio, 1)


def test_chrf_takes_the_best_reference_and_needs_one() -> None:
    assert chrf("请关门", ["开窗", "请关门"]) == pytest.approx(100)
    assert chrf("请关门", []) is None
    assert chrf(" ", ["请关门"]) is None


def test_bleu_which_is_not_used_hangs_on_its_tokenizer() -> None:
    chinese = BLEU(effective_order=True, tokenize="zh")
    assert chinese.sentence_score("我喜欢猫。", ["我很喜欢猫。"]).score == pytest.approx(
        57.8930, abs=5e-5
    )
    for tokenizer, score in (("ja-mecab", 30.2138), ("char", 61.2975)):
        japanese = BLEU(effective_order=True, tokenize=tokenizer)
        assert japanese.sentence_score("猫が好きです。", ["猫が大好きです。"]).score == (
            pytest.approx(score, abs=5e-5)
        )
