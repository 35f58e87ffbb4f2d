from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from evalbot.domain.answers import Answer, Usage
from evalbot.domain.answers import AnswerStatus as S
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.retrying import RetryPolicy
from tests.fault_server import (
    DONE,
    ROLE,
    FaultServer,
    Reply,
    Step,
    answer,
    chunk,
    failing,
    plain,
    stream,
    usage,
)
from tests.waiting import until

from .asking import RECORDED, ask, client_of, settings, user

STOP = chunk(finish="stop")
TIMINGS = {"cache_n": 0, "prompt_n": 100, "prompt_ms": 50, "predicted_n": 3, "predicted_ms": 20}


def test_a_recorded_stream_is_read_whole(server: FaultServer) -> None:
    server.on("hello", stream((RECORDED / "chat_stream.sse").read_bytes()))
    said = ask(server.base_url)
    assert (said.status, said.text, said.finish_reason) == (
        S.TRUNCATED, "I'm glad you're here", "length"
    )  # fmt: skip
    assert said.usage == Usage(32, 31, 6)
    assert said.timing.source == "server"
    assert said.timing.decode_tps == pytest.approx(1000 * 5 / 83.361)


def test_counts_are_taken_from_timings_where_usage_is_missing(server: FaultServer) -> None:
    server.on("hello", stream((RECORDED / "chat_stream_no_usage.sse").read_bytes()))
    assert ask(server.base_url).usage == Usage(32, 31, 6)


def test_what_the_server_does_not_count_is_missing(server: FaultServer) -> None:
    server.on("hello", stream(chunk("a"), chunk("b"), STOP))
    said = ask(server.base_url)
    assert said.usage == Usage()
    assert (said.timing.decode_tps, said.timing.source) == (None, "none")


def test_two_servers_side_by_side_have_each_their_own_timing_source(server: FaultServer) -> None:
    server.on("with", stream(chunk("a"), STOP, usage(100, 3, timings=TIMINGS), DONE))
    server.on("without", stream(chunk("a"), 0.02, chunk("b"), STOP, usage(9, 2), DONE))
    told, measured = ask(server.base_url, "with").timing, ask(server.base_url, "without").timing
    assert (told.source, told.decode_tps, told.prefill_tps) == ("server", 100.0, 2000.0)
    assert (measured.source, measured.prefill_tps) == ("client", None)
    assert measured.decode_tps is not None


def test_times_are_in_the_order_things_came(server: FaultServer) -> None:
    parts = (ROLE, 0.02, chunk(reasoning="想"), 0.02, chunk(" 好"), 0.02, STOP)
    server.on("hello", stream(*parts, 0.02, DONE))
    times = ask(server.base_url).timing
    seen = [times.ttfr_ms, times.ttft_ms, times.ttfot_ms, times.total_ms]
    assert None not in seen
    assert seen == sorted(seen, key=lambda one: one or 0)
    assert len(set(seen)) == 4


def test_thinking_in_the_text_is_not_visible_yet(server: FaultServer) -> None:
    server.on("hello", stream(chunk("<think>a"), 0.02, chunk("</think>b"), STOP, DONE))
    times = ask(server.base_url).timing
    assert times.ttft_ms is not None
    assert times.ttfot_ms is not None
    assert times.ttft_ms < times.ttfot_ms


def test_a_reply_that_was_no_stream_has_no_time_of_a_token(server: FaultServer) -> None:
    message = {"content": "好", "reasoning_content": "想"}
    server.on("hello", plain({"choices": [{"message": message, "finish_reason": "stop"}]}))
    said = ask(server.base_url)
    assert (said.text, said.reasoning) == ("好", "想")
    assert (said.timing.ttft_ms, said.timing.ttfot_ms) == (None, None)
    assert said.timing.total_ms is not None


def test_everything_received_is_kept_raw(server: FaultServer) -> None:
    server.on("hello", stream(chunk("<think>a</think>\nb"), chunk(reasoning="c"), STOP))
    said = ask(server.base_url)
    assert (said.raw, said.text, said.reasoning) == ("<think>a</think>\nb", "b", "c\na")


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
def test_a_stream_cut_anywhere_is_the_same_answer(end: str, server: FaultServer) -> None:
    said = 'data: {"choices":[{"delta":{"content":"青😀"}}]}'
    whole = (said + end).encode() + (STOP.decode().strip() + end).encode()
    for at in range(len(said.encode()) - 16, len(said.encode()) + 5):
        server.on(f"cut {at}", stream(whole[:at], 0.002, whole[at:]))
        assert ask(server.base_url, f"cut {at}").text == "青😀"


def test_slow_tokens_are_no_silence(server: FaultServer) -> None:
    tokens = [part for i in range(10) for part in (chunk(str(i)), 0.25)]
    server.on("hello", stream(*tokens, STOP, DONE))
    said = ask(server.base_url, timeout_s=2.2)
    assert (said.status, said.text) == (S.OK, "0123456789")
    assert (said.timing.total_ms or 0) > 2200


def test_each_chunk_is_shown_as_it_comes(server: FaultServer) -> None:
    shown: list[str] = []
    server.on("hello", stream(chunk("a"), chunk("b"), STOP, DONE))
    ask(server.base_url, on_text=lambda one, _: shown.append(one.content))
    assert shown == ["a", "b", ""]


def test_answers_in_a_row_use_one_connection(server: FaultServer) -> None:
    async def several() -> list[Answer]:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url)
            return [await client.ask(user(f"{i}")) for i in range(8)]

    assert all(said.status is S.OK for said in asyncio.run(several()))
    assert len(server.connections) == 1


@pytest.mark.parametrize("step", [Step.BREAK, Step.RESET])
def test_a_kept_connection_that_the_server_had_given_up_is_no_failure(
    step: Step, server: FaultServer
) -> None:
    """As llama.cpp does after each stream."""
    server.on("second", Reply(before=(step,)), answer("here"))

    async def two() -> Answer:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url)
            await client.ask(user("first"))
            return await client.ask(user("second"))

    said = asyncio.run(two())
    assert (said.status, said.text, said.retries) == (S.OK, "here", ())
    assert len(server.connections) == 2


def test_a_server_that_breaks_fresh_connections_too_has_failed(server: FaultServer) -> None:
    server.on("second", Reply(before=(Step.BREAK,)))

    async def two() -> Answer:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url)
            await client.ask(user("first"))
            return await client.ask(user("second"))

    assert asyncio.run(two()).status is S.CONNECTION
    assert server.prompts == ["first", "second", "second"]


def test_silence_on_a_kept_connection_is_a_timeout_and_not_asked_again(
    server: FaultServer,
) -> None:
    server.on("second", Reply(before=(Step.HANG,)))

    async def two() -> Answer:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url)
            await client.ask(user("first"))
            return await client.ask(user("second"))

    assert asyncio.run(two()).status is S.TIMEOUT
    assert server.prompts == ["first", "second"]


def test_the_connection_of_a_failed_answer_is_not_used_again(server: FaultServer) -> None:
    server.on("bad", stream(chunk("x"), b"data: {oops\n\n", Step.HANG))

    async def two() -> list[S]:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url)
            statuses = [(await client.ask(user(prompt))).status for prompt in ("bad", "good")]
            await until(lambda: server.aborted == 1)
            return statuses

    assert asyncio.run(two()) == [S.MALFORMED, S.OK]
    assert len(server.connections) == 2


def test_as_many_requests_run_at_once_as_are_asked(server: FaultServer) -> None:
    server.on("hello", answer("x", before=(Step.GATE,)))

    async def many() -> None:
        async with open_session(settings(server.base_url, timeout_s=10)) as session:
            client = client_of(session, server.base_url, timeout_s=10)
            asking = [asyncio.create_task(client.ask(user("hello"))) for _ in range(300)]
            await until(lambda: server.at_once == 300)
            server.open_gate()
            assert all([(await one).status is S.OK for one in asking])

    asyncio.run(many())


@pytest.mark.parametrize(
    "reply", [Reply(before=(Step.HANG,)), stream(Step.HANG), stream(chunk("部分"), Step.HANG)]
)
def test_a_cancelled_request_is_closed_and_keeps_what_came(
    reply: Reply, server: FaultServer
) -> None:
    server.on("hello", reply)

    async def cancelled() -> Answer:
        async with open_session(settings(server.base_url, timeout_s=30)) as session:
            came = asyncio.Event()
            client = client_of(session, server.base_url, timeout_s=30)
            asking = asyncio.create_task(client.ask(user("hello"), on_text=lambda *_: came.set()))
            await until(came.is_set if chunk("部分") in reply.parts else lambda: server.at_once)
            asking.cancel()
            said = await asking
            await until(lambda: server.aborted == 1)
            return said

    said = asyncio.run(cancelled())
    assert said.status is S.CANCELLED
    assert said.text == ("部分" if chunk("部分") in reply.parts else "")


def test_a_pause_before_a_retry_can_be_cancelled(server: FaultServer) -> None:
    server.on("hello", failing(503))

    async def cancelled() -> Answer:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url, RetryPolicy(first_pause_s=60))
            asking = asyncio.create_task(client.ask(user("hello")))
            await until(lambda: server.chats and not server.at_once)
            await asyncio.sleep(0.05)
            asking.cancel()
            return await asking

    said = asyncio.run(cancelled())
    assert said.status is S.CANCELLED
    assert [retry.status for retry in said.retries] == [S.HTTP]


def test_somebody_may_look_before_each_retry(server: FaultServer) -> None:
    server.on("hello", failing(503), failing(503), answer("x"))
    looks: list[int] = []

    async def look() -> None:
        looks.append(len(server.chats))

    async def once() -> Answer:
        async with open_session(settings(server.base_url)) as session:
            client = client_of(session, server.base_url, RetryPolicy(first_pause_s=0.01))
            return await client.ask(user("hello"), before_retry=look)

    assert asyncio.run(once()).status is S.OK
    assert looks == [1, 2]


def test_the_key_is_sent_and_a_refused_one_is_an_http_failure(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "right"
    monkeypatch.setenv("TEST_KEY", "right")
    assert ask(server.base_url, api_key_env="TEST_KEY").status is S.OK
    monkeypatch.setenv("TEST_KEY", "wrong")
    said = ask(server.base_url, api_key_env="TEST_KEY")
    assert (said.status, said.error_detail) == (S.HTTP, "HTTP 401: Invalid API Key")


def test_no_compression_is_asked_for(server: FaultServer) -> None:
    ask(server.base_url)
    assert server.chats[0].headers["Accept-Encoding"] == "identity"


def test_a_silent_server_is_given_up_after_the_silence_allowed(server: FaultServer) -> None:
    server.on("hello", Reply(before=(Step.HANG,)))

    for allowed in (0.1, 0.6):
        said = ask(server.base_url, timeout_s=allowed)
        assert said.status is S.TIMEOUT
        assert said.error_detail == f"nothing came for {allowed} s (timeout_s)"
        assert datetime.now(UTC) - said.started_at >= timedelta(seconds=allowed)
