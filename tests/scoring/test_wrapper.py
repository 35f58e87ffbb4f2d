from __future__ import annotations

import pytest

from evalbot.scoring import unwrap

from .grading import flags, outcome


@pytest.mark.parametrize(
    "answer",
    [
        "当然！以下是翻译：\n请关门\n\n希望对你有帮助！",
        "好的，以下是译文：请关门",
        "Sure! Here is the translation:\n\n请关门\n\nLet me know if you need anything else.",
        "Here's the Chinese translation of the sentence: 请关门",
        "以下が翻訳です：\n「请关门」",
        "翻訳：请关门",
        "译文：请关门",
        "**Translation:** 请关门",
        "**译文**：请关门",
        "### 译文\n\n请关门",
        "【译文】请关门",
        "Translation (Simplified Chinese): 请关门",
        "“请关门”",
        "「请关门」",
        "**请关门**",
        "```\n请关门\n```",
        "```text\n请关门\n```",
        "> 请关门",
        "<answer>请关门</answer>",
        "请关门\n\n注：这里用了祈使句。",
        "请关门\n\n(Note: this is an imperative.)",
        "请关门\n\nお役に立てれば幸いです。",
        "原文：ドアを閉めて\n译文：请关门",
        "翻译如下：请关门",
        "好的，翻译如下：\n请关门",
        "没问题！以下是翻译：请关门",
        "这句话的中文翻译是：请关门",
        "The Chinese translation is: 请关门",
        "请关门<|im_end|>",
        "译文：请关门</s>",
        "请关门\n<|endoftext|>",
        "请关门<|eot_id|>\n",
    ],
)
def test_wrappers_are_taken_off(answer: str) -> None:
    unwrapped = unwrap(answer)
    assert unwrapped.text == "请关门"
    assert unwrapped.removed


@pytest.mark.parametrize(
    "answer",
    [
        "请关门",
        "“A”和“B”",
        "「はい」と「いいえ」",
        "注意：请关门",
        "时间：三点\n地点：东京",
        "好的，我们走吧",
        "这是我的书：你看",
        "**重要**：请关门",
        "他说：“请关门。”",
    ],
)
def test_what_could_be_content_stays(answer: str) -> None:
    assert unwrap(answer) == (answer, (), False)


@pytest.mark.parametrize(
    "answer",
    [
        "这是错误的翻译：请关门",
        "请关门\n\n注：以上翻译是错的，应为：请开门",
        "This translation is wrong: 请关门",
        "This is not the translation: 请关门",
        "译文（错误）：请关门",
        "请关门\n\nNote: the above is incorrect",
    ],
)
def test_what_disowns_the_text_is_no_wrapper(answer: str) -> None:
    assert unwrap(answer).removed == ()
    assert outcome(answer, "请关门") == "needs_review"


def test_a_long_text_that_is_disowned_goes_to_a_person() -> None:
    reference = "会议在小会议室举行，请大家带好资料。" * 40
    for answer in (f"这是错误的翻译：{reference}", f"{reference}\n\nNote: the above is incorrect"):
        assert outcome(answer, reference) == "needs_review"


@pytest.mark.parametrize(
    "answer",
    ["请关门。希望对你有帮助！", "以下是翻译：", "请关门\n或者：\n把门关上", "当然！\n请关门"],
)
def test_an_uncertain_wrapper_is_left_and_suspected(answer: str) -> None:
    assert unwrap(answer) == (answer, (), True)
    assert "wrapper" in flags(answer, "请关门")


def test_the_flag_tells_of_a_wrapper() -> None:  # F7
    answer = "当然！以下是翻译：\n请确认订单数量\n…"
    assert outcome(answer, "请确认订单数量") == "correct"
    assert "wrapper" in flags(answer, "请确认订单数量")
    assert flags("请确认订单数量", "请确认订单数量") == []


@pytest.mark.parametrize(
    "text", ["译文：请关门", "「请关门」", "请关门\n\n注：不要锁", "如果你有问题，请随时告诉我"]
)
def test_content_that_looks_like_a_wrapper_still_equals_its_reference(text: str) -> None:
    assert outcome(text, text) == "correct"
