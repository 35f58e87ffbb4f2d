from __future__ import annotations

from typing import Any

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.answers import Usage
from evalbot.endpoints.chunks import ServerTimings
from evalbot.endpoints.outcome import Reading, error_failure, read_complete

OVERFLOW = {
    "code": 400,
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 5120,
    "n_ctx": 4096,
}


def reading(
    content: str,
    reasoning: str = "",
    finish: str | None = "stop",
    usage: Usage | None = None,
    timings: ServerTimings | None = None,
    slot_context: int | None = None,
) -> Reading:
    return read_complete(content, reasoning, finish, usage or Usage(), timings, slot_context, 512)


@pytest.mark.parametrize(
    ("content", "reasoning", "finish", "status", "text"),
    [
        ("会議", "", "stop", S.OK, "会議"),
        ("会議", "考", "stop", S.OK, "会議"),
        ("会議は十", "", "length", S.TRUNCATED, "会議は十"),
        ("会議は十", "", "max_tokens", S.TRUNCATED, "会議は十"),
        ("", "", "stop", S.EMPTY, ""),
        ("\n \u3000", "", "stop", S.EMPTY, "\n \u3000"),
        ("", "", "length", S.EMPTY, ""),
        ("", "あと少し", "length", S.NO_ANSWER_BUDGET, ""),
        ("", "あと少し", "stop", S.EMPTY, ""),
        ("", " ", "length", S.EMPTY, ""),
        ("<think>候補は「窓」</think>窓", "", "stop", S.OK, "窓"),
        ("<think>候補は「窓」</think>", "", "stop", S.EMPTY, ""),
        ("<think>候補は「窓」</think>", "", "length", S.NO_ANSWER_BUDGET, ""),
        ("<think>答案大概是", "", "stop", S.THINKING_UNCLOSED, ""),
        ("<think>答案大概是", "", "length", S.NO_ANSWER_BUDGET, ""),
        ("先分析</think>请关门", "", "stop", S.OK, "请关门"),
        ("half", "", "abort", S.SERVER_ERROR, "half"),
        ("half", "", "error", S.SERVER_ERROR, "half"),
        ("tool", "", "tool_calls", S.OK, "tool"),
    ],
)
def test_how_a_complete_stream_is_read(
    content: str, reasoning: str, finish: str, status: S, text: str
) -> None:
    seen = reading(content, reasoning, finish)
    assert (seen.status, seen.text) == (status, text)
    assert seen.status is S.OK or seen.detail or not (seen.text + seen.reasoning).strip()


def test_reasoning_is_kept_from_the_field_and_from_the_tags() -> None:
    assert reading("<think>b</think>c", "a").reasoning == "a\nb"


def test_a_full_slot_is_told_from_a_token_limit() -> None:
    usage = Usage(prompt_tokens=250, completion_tokens=6)
    assert "max_tokens 512" in (reading("x", finish="length", usage=usage).detail or "")
    full = reading("x", finish="length", usage=usage, slot_context=256)
    assert "context of 256 tokens was full" in (full.detail or "")


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_a_context_shift_is_told(finish: str) -> None:
    timings = ServerTimings(cache_n=200, prompt_n=50, predicted_n=300)
    seen = reading("x", finish=finish, timings=timings, slot_context=256)
    assert seen.status is S.TRUNCATED
    assert "550 tokens went through a context of 256" in (seen.detail or "")


def test_without_counts_no_shift_is_claimed() -> None:
    assert reading("x", slot_context=256).status is S.OK


@pytest.mark.parametrize(
    ("error", "http_status", "status", "shared"),
    [
        (OVERFLOW, 400, S.CONTEXT_OVERFLOW, False),
        (OVERFLOW, None, S.CONTEXT_OVERFLOW, False),
        ({**OVERFLOW, "code": 500}, 500, S.CONTEXT_OVERFLOW, False),
        (
            {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"},
            500,
            S.CONTEXT_OVERFLOW,
            True,
        ),
        ("Context size has been exceeded.", 500, S.CONTEXT_OVERFLOW, True),
        ("This model's maximum context length is 4096 tokens", 400, S.CONTEXT_OVERFLOW, False),
        ({"message": "slot lost"}, None, S.SERVER_ERROR, False),
        ({"message": "slot lost"}, 200, S.SERVER_ERROR, False),
        ("slot lost", None, S.SERVER_ERROR, False),
        ({}, None, S.SERVER_ERROR, False),
        ({"message": "no"}, 500, S.HTTP, False),
        ("", 502, S.HTTP, False),
        ([1, 2], 400, S.HTTP, False),
    ],
)
def test_what_an_error_is(error: Any, http_status: int | None, status: S, shared: bool) -> None:
    failure = error_failure(error, http_status)
    assert (failure.status, failure.shared_context) == (status, shared)


def test_an_overflow_tells_both_numbers() -> None:
    detail = error_failure(OVERFLOW, 400).detail
    assert "5120" in detail
    assert "4096" in detail


def test_the_servers_own_words_are_kept() -> None:
    assert error_failure({"message": "slot lost"}, 500).detail == "HTTP 500: slot lost"
    assert error_failure({"why": "名前"}).detail == '{"why": "名前"}'
    assert error_failure("", 502).detail == "HTTP 502"
