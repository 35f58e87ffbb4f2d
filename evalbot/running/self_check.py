"""The second pass: a model is shown its own answer and asked to check it once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbot.domain.cases import Message
from evalbot.domain.writing import language_of

SELF_CHECK = "self_check"
"""Run setting: by language, the words by which a model is asked; absent without self-checks."""

WORDS: Mapping[str, str] = {
    "en": "Check your answer once more: is everything in it right, and is anything missing? Then "
    "give your final answer in full, in the same form as before, and nothing else.",
    "ja": "あなたの回答をもう一度確認してください。すべて正しいですか。"
    "抜けているものはありませんか。そのうえで、最終的な回答を前と同じ形式ですべて書き、それ以外は何も書かないでください。",
    "zh": "请再检查一遍你的回答: 内容是否全部正确, 有没有遗漏? 然后用与之前相同的形式"
    "完整写出最终回答, 不要写其他内容。",
}


def check_conversation(
    asked: Sequence[Message], answer: str, words: Mapping[str, str]
) -> tuple[Message, ...]:
    """What was asked and answered, and the request to check it, in the question's language."""
    return (
        *asked,
        Message("assistant", answer),
        Message("user", words[language_of(asked[-1].content)]),
    )
