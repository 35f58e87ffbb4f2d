from __future__ import annotations

import pytest

from evalbot.domain.answers import Timing, Usage
from evalbot.endpoints.chunks import ServerTimings
from evalbot.endpoints.timing import StreamClock, timing_of, visible_start

Said = tuple[float, str, str]
"""When, reasoning, content."""


def clock_of(*said: Said, sent: float = 0.0) -> StreamClock:
    clock, length = StreamClock(sent), 0
    for at, reasoning, content in said:
        clock.event(at)
        if reasoning or content:
            clock.token(at)
        if content:
            length += len(content)
            clock.content(at, length)
    return clock


def timing(
    *said: Said,
    ended: float = 10.0,
    tokens: int | None = None,
    server: ServerTimings | None = None,
    sent: float = 0.0,
) -> Timing:
    clock = clock_of(*said, sent=sent)
    return timing_of(clock, ended, clock.content_at(0), Usage(completion_tokens=tokens), server)


def test_the_role_only_chunk_is_a_response_but_no_token() -> None:
    seen = timing((0.01, "", ""), (0.90, "", "青"))
    assert seen.ttfr_ms == pytest.approx(10)
    assert seen.ttft_ms == pytest.approx(900)
    assert seen.ttfot_ms == pytest.approx(900)


def test_reasoning_is_a_token_but_not_visible() -> None:
    seen = timing((0.4, "先", ""), (7.2, "", "好"))
    assert seen.ttft_ms == pytest.approx(400)
    assert seen.ttfot_ms == pytest.approx(7200)


def test_only_reasoning_has_no_visible_token() -> None:
    assert timing((0.4, "先", "")).ttfot_ms is None


def test_a_reply_without_any_token_has_only_its_end() -> None:
    assert timing(ended=2.0) == Timing(total_ms=2000.0)


def test_tokens_are_counted_by_the_server_not_by_chunks() -> None:
    chunks = [(i * 2.0 / 39, "", "字") for i in range(40)]
    seen = timing(*chunks, server=ServerTimings(predicted_n=120, predicted_ms=2000))
    assert seen.decode_tps == pytest.approx(59.5)
    assert seen.source == "server"


def test_decode_is_recomputed_from_counts_and_times() -> None:
    server = ServerTimings(
        cache_n=236, prompt_n=1, prompt_ms=30.958, predicted_n=35, predicted_ms=661.064
    )
    seen = timing((0.1, "", "a"), server=server)
    assert seen.decode_tps == pytest.approx(51.4322365157)
    assert seen.prefill_tps is None


def test_what_others_make_of_the_same_times_is_not_comparable() -> None:
    """Older llama.cpp counts the first token, which is there when its clock starts."""
    ours, reported = 1000 * 34 / 661.064, 1000 * 35 / 661.064
    assert reported == pytest.approx(52.9449493544)
    assert reported / ours == pytest.approx(35 / 34)
    assert 1000 / ours == pytest.approx(19.4430588235)
    prefill = 1000 * 1 / 30.958  # one token, 236 cached: it means nothing
    assert prefill == pytest.approx(32.3018282835)
    sent, first, last, end, tokens = 0.0, 0.25, 0.45, 0.46, 5
    assert (end - first) / (tokens - 1) == pytest.approx(0.0525)  # vLLM's time per token
    assert (last - sent) / tokens == pytest.approx(0.09)  # guidellm's


@pytest.mark.parametrize(
    ("cache_n", "prompt_n", "prompt_ms", "expected"),
    [
        (3988, 12, 20.0, None),
        (0, 12, 20.0, None),
        (0, 63, 20.0, None),
        (0, 64, 32.0, 2000.0),
        (None, 4000, 2000.0, 2000.0),
        (1, 4000, 2000.0, None),
        (0, 4000, 0.0, None),
        (0, 4000, None, None),
        (0, 0, 0.0, None),
        (0, None, 5.0, None),
    ],
)
def test_prefill_only_of_enough_uncached_tokens(
    cache_n: int | None, prompt_n: int | None, prompt_ms: float | None, expected: float | None
) -> None:
    server = ServerTimings(cache_n=cache_n, prompt_n=prompt_n, prompt_ms=prompt_ms)
    assert timing((0.1, "", "a"), server=server).prefill_tps == expected


def test_without_server_timings_our_clock_tells() -> None:
    chunks = [(at, "", "x") for at in (0.25, 0.30, 0.35, 0.40, 0.45)]
    seen = timing(*chunks, ended=0.46, tokens=5)
    assert seen.ttft_ms == pytest.approx(250)
    assert seen.decode_tps == pytest.approx(20)
    assert seen.source == "client"
    assert seen.total_ms is not None
    assert 5 / seen.total_ms * 1000 == pytest.approx(10.8695652)


def test_times_count_from_the_sending() -> None:
    seen = timing((100.25, "", "x"), sent=100.0, ended=100.5)
    assert seen == Timing(250.0, 250.0, 250.0, 500.0)


@pytest.mark.parametrize(
    ("tokens", "times", "source"),
    [(None, (0.1, 0.2), "none"), (1, (0.1,), "client"), (9, (0.1, 0.1), "client")],
)
def test_a_speed_nobody_can_know_is_missing(
    tokens: int | None, times: tuple[float, ...], source: str
) -> None:
    seen = timing(*((at, "", "x") for at in times), tokens=tokens)
    assert (seen.decode_tps, seen.source) == (None, source)


def test_one_generated_token_has_no_speed() -> None:
    seen = timing((0.1, "", "a"), server=ServerTimings(predicted_n=1, predicted_ms=0.01))
    assert (seen.decode_tps, seen.source) == (None, "server")


@pytest.mark.parametrize(
    ("raw", "text", "expected"),
    [
        ("Hi", "Hi", 0),
        ("\n Hi \n", "Hi", 2),
        ("<think>Hi</think>\nHi", "Hi", 18),
        ("A<think>x</think>B", "AB", 0),
        ("<think>x</think>A<think>y</think>B", "AB", 16),
        (
            "<|channel|>analysis<|message|>no<|end|><|channel|>final<|message|>Hi<|return|>",
            "Hi",
            66,
        ),
        ("<think>x", "", None),
        ("  ", "  ", None),
    ],
)
def test_where_the_visible_text_begins(raw: str, text: str, expected: int | None) -> None:
    assert visible_start(raw, text) == expected


def test_a_long_answer_in_pieces_is_searched_quickly() -> None:
    piece = "ab" * 100_000
    assert visible_start(f"{piece}<think>x</think>{piece}c", f"{piece}{piece}c") == 0


def test_when_a_character_came() -> None:
    clock = clock_of((1.0, "", "ab"), (2.0, "", "c"))
    assert [clock.content_at(i) for i in range(4)] == [1.0, 1.0, 2.0, None]
