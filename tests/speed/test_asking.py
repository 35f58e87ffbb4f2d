"""One round: streams sent at the same moment, each timed by itself, none tried twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.settings import EndpointSettings
from evalbot.domain.sweeps import Sample
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.request import chat_body
from evalbot.speed.asking import MEASURED, NO_RETRIES, ask_round, measuring
from evalbot.speed.prompts import Prompt
from tests.fault_server import (
    DONE,
    OVERFLOW,
    ROLE,
    SHARED_OVERFLOW,
    FaultServer,
    Part,
    Reply,
    Step,
    answer,
    chunk,
    closed_port,
    event,
    failing,
    plain,
    stream,
    usage,
)
from tests.waiting import until

STOP = chunk(finish="stop")


def at_least(sample: Sample, tokens: int) -> float:
    """So many tokens a second if the last of them had come at the very end of the stream."""
    return tokens / (((sample.timing.total_ms or 0) - (sample.timing.ttft_ms or 0)) / 1000)


def endpoint(base_url: str, **fields: Any) -> EndpointSettings:
    return EndpointSettings(**{"name": "e", "base_url": base_url, "timeout_s": 60, **fields})


async def asked(
    base_url: str, prompts: Sequence[str], slots: int | None = None, **fields: Any
) -> list[Sample]:
    settings = measuring(endpoint(base_url, **fields), 4)
    async with open_session(settings) as session:
        client = EndpointClient(session, settings, None, slots, NO_RETRIES)
        return await ask_round(client, [Prompt(text, None) for text in prompts])


def round_of(base_url: str, *prompts: str, **fields: Any) -> list[Sample]:
    return asyncio.run(asked(base_url, prompts, **fields))


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "n_predict", "stop"])
@pytest.mark.parametrize("place", ["sampling", "extra_body"])
def test_nothing_in_the_config_ends_a_stream_earlier(name: str, place: str) -> None:
    value = ["。"] if name == "stop" else 7
    settings = measuring(endpoint("http://e/v1", **{place: {name: value, "top_k": 5}}), 128)
    body = chat_body(settings, [])
    limits = ("max_tokens", "max_completion_tokens", "n_predict", "stop")
    assert {key: body[key] for key in limits if key in body} == {"max_tokens": 128}
    assert settings.max_tokens == 128
    assert body["top_k"] == 5


def test_every_token_is_to_be_written_and_no_prompt_cached_whatever_the_config_says() -> None:
    own = {"cache_prompt": True, "ignore_eos": False, "seed": 3}
    for settings in (
        endpoint("http://e/v1"),
        endpoint("http://e/v1", sampling=own),
        endpoint("http://e/v1", extra_body=own),
    ):
        body = chat_body(measuring(settings, 8), [])
        assert (body["cache_prompt"], body["ignore_eos"]) == (False, True)
        assert body.get("seed") in (None, 3)


def test_measuring_twice_is_measuring_with_the_later_number() -> None:
    settings = endpoint("http://e/v1", sampling={"temperature": 0}, extra_body={"n_predict": 9})
    assert measuring(measuring(settings, 128), 8) == measuring(settings, 8)


def test_all_streams_of_a_round_run_at_once(server: FaultServer) -> None:
    """None is answered before the last one has been sent."""

    async def gated() -> list[Sample]:
        working = asyncio.create_task(asked(server.base_url, [f"p{i}" for i in range(64)]))
        await until(lambda: server.at_once == 64)
        server.open_gate()
        return await working

    for i in range(64):
        server.on(f"p{i}", answer("a", "b", before=(Step.GATE,)))
    samples = asyncio.run(gated())
    assert [one.stream for one in samples] == list(range(1, 65))
    assert {one.status for one in samples} == {S.OK}
    # All were sent before any was answered, and each says when, since the round began.
    first_answered = min(one.offset_ms + (one.timing.ttfr_ms or 0) for one in samples)
    assert 0 <= max(one.offset_ms for one in samples) < first_answered


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (failing(503, Retry_After="0"), S.HTTP),
        (failing(429, Retry_After="0"), S.HTTP),
        (plain({"error": SHARED_OVERFLOW}, 500), S.CONTEXT_OVERFLOW),
        (plain({"error": OVERFLOW}, 400), S.CONTEXT_OVERFLOW),
        (stream(event({"error": {"message": "slot lost"}})), S.SERVER_ERROR),
        (Reply(before=(Step.RESET,)), S.CONNECTION),
        (stream(chunk("half"), Step.BREAK), S.STREAM_BROKEN),
    ],
)
def test_nothing_is_tried_a_second_time(reply: Reply, status: S, server: FaultServer) -> None:
    server.on("p", reply, answer("a", "b"))
    [sample] = round_of(server.base_url, "p", retries=5)
    assert sample.status is status
    assert sample.error_detail
    assert len(server.chats) == 1


def test_a_server_that_is_not_there_is_not_tried_again() -> None:
    with closed_port() as nobody:
        samples = round_of(nobody, "p", "q", retries=5)
    assert [one.status for one in samples] == [S.CONNECTION] * 2
    assert all(one.timing.total_ms is not None for one in samples)


def test_a_shared_context_is_told_as_one(server: FaultServer) -> None:
    """cases.md, C3: four slots, one cache for them all."""
    for prompt in ("p1", "p2"):
        server.on(prompt, plain({"error": SHARED_OVERFLOW}, 500))
    *full, fine = round_of(server.base_url, "p1", "p2", "p3", slots=4)
    assert [one.status for one in full] == [S.CONTEXT_OVERFLOW] * 2
    assert fine.status in MEASURED
    assert "(4 slots share the server's context)" in (full[0].error_detail or "")


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((chunk("a"), chunk("b"), chunk(finish="length")), S.TRUNCATED),
        ((chunk("a"), STOP), S.OK),
        ((chunk(" "), chunk(finish="length")), S.EMPTY),
        ((chunk(reasoning="let me"), chunk(finish="length")), S.NO_ANSWER_BUDGET),
        ((chunk("<think>let me"), STOP), S.THINKING_UNCLOSED),
    ],
)
def test_how_an_answer_reads_is_no_failure_of_a_stream_that_came_to_its_end(
    parts: tuple[Part, ...], status: S, server: FaultServer
) -> None:
    server.on("p", stream(ROLE, *parts, usage(30, 2), DONE))
    [sample] = round_of(server.base_url, "p")
    assert sample.status is status
    assert status in MEASURED
    assert sample.error_detail is None
    assert sample.usage.completion_tokens == 2


def test_a_streams_rate_is_by_our_own_clock_whatever_the_server_says(server: FaultServer) -> None:
    """Five tokens in four pauses; reasoning and text alike. The server claims 1000 a second."""
    told = {"prompt_n": 99, "prompt_ms": 9.0, "predicted_n": 5, "predicted_ms": 4.0}
    paused: tuple[Part, ...] = (ROLE, chunk(reasoning="a"), 0.05, chunk(reasoning="b"), 0.05,
                                chunk("c"), 0.05, chunk("d"), 0.05, chunk("e"))  # fmt: skip
    server.on("p", stream(*paused, STOP, usage(99, 5, timings=told), DONE))
    [sample] = round_of(server.base_url, "p")
    assert (sample.timing.source, sample.timing.decode_tps) == ("server", 1000)
    assert at_least(sample, 4) <= (sample.stream_tps or 0) < 500


def test_tokens_that_come_in_several_pieces_are_counted_by_the_server(server: FaultServer) -> None:
    """cases.md, T3: chunks are no tokens; the first piece has its share of them."""
    server.on("p", stream(chunk("a"), 0.3, chunk("b"), STOP, usage(9, 120), DONE))
    [sample] = round_of(server.base_url, "p")
    # Where "a" is read late, the pause seems shorter; 120 tokens would be 400 a second.
    assert at_least(sample, 60) <= (sample.stream_tps or 0) <= 60 / 0.2
    assert sample.timing.decode_tps == pytest.approx(sample.stream_tps)


def test_of_tokens_that_come_all_at_once_nobody_knows_the_pace(server: FaultServer) -> None:
    """A proxy that holds the stream back until it is whole."""
    together = b"".join(chunk(str(i)) for i in range(40))
    server.on("p", stream(together, 0.02, STOP, usage(9, 40), DONE))
    [sample] = round_of(server.base_url, "p")
    assert (sample.status, sample.stream_tps) == (S.OK, None)


@pytest.mark.parametrize(
    "end",
    [
        (STOP, DONE),  # no usage: how many tokens there were nobody knows
        (STOP, usage(9, 1), DONE),
        (STOP, event({"choices": [], "usage": {"prompt_tokens": 9}}), DONE),
    ],
)
def test_without_a_count_of_tokens_there_is_no_rate(
    end: tuple[Part, ...], server: FaultServer
) -> None:
    server.on("p", stream(chunk("a"), 0.02, chunk("b"), *end))
    [sample] = round_of(server.base_url, "p")
    assert (sample.status, sample.stream_tps) == (S.OK, None)


def test_a_reply_that_is_no_stream_has_no_rate(server: FaultServer) -> None:
    whole = {
        "choices": [{"index": 0, "message": {"content": "all of it"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    }
    server.on("p", plain(whole))
    [sample] = round_of(server.base_url, "p")
    assert sample.status in MEASURED
    assert (sample.stream_tps, sample.timing.ttft_ms) == (None, None)


def test_a_cancelled_round_closes_its_connections_and_gives_nothing(server: FaultServer) -> None:
    for i in range(4):
        server.on(f"p{i}", stream(chunk("half"), Step.HANG))

    async def cancelled() -> None:
        working = asyncio.create_task(asked(server.base_url, [f"p{i}" for i in range(4)]))
        await until(lambda: server.at_once == 4)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        await until(lambda: server.aborted == 4)

    asyncio.run(cancelled())
    assert server.at_once == 0
