"""Chats as HTML: what is unknown is a dash, and labels go beyond Z."""

from __future__ import annotations

from datetime import UTC, datetime

from evalbot.domain.answers import Answer, AnswerStatus, Timing, Usage
from evalbot.domain.chats import label_at
from evalbot.ui.chat_view import LONGEST_SHOWN, speed_line, text_html

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_speed_is_told_with_a_dash_for_what_is_unknown() -> None:
    unknown = Answer(AnswerStatus.OK, "x", "", "x", NOW)
    assert speed_line(unknown) == (
        "first word after – s · reading – tokens/s · writing – tokens/s · – tokens · – s in all"
    )
    timing = Timing(ttfot_ms=425, total_ms=2505, prefill_tps=310.25, decode_tps=35.0)
    known = Answer(
        AnswerStatus.OK, "x", "", "x", NOW, usage=Usage(completion_tokens=1), timing=timing
    )
    assert speed_line(known) == (
        "first word after 0.43 s · reading 310.3 tokens/s · writing 35.0 tokens/s · 1 token · "
        "2.51 s in all"
    )


def test_labels_are_letters_and_then_letters_with_numbers() -> None:
    assert [label_at(at) for at in (0, 25, 26, 53)] == ["A", "Z", "A2", "B3"]


def test_text_names_its_language_for_the_fonts() -> None:
    assert 'lang="ja"' in text_html("ひらがな")
    assert 'lang="zh"' in text_html("中文")


def test_of_an_endless_text_the_start_is_shown() -> None:
    html = text_html("x" * (LONGEST_SHOWN + 1))
    assert "… and 1 more character" in html
    assert "x" * (LONGEST_SHOWN + 1) not in html
