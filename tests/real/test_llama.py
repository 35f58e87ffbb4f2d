"""evalbot against real llama.cpp servers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp

from evalbot.domain.answers import Answer
from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.runs import RunState
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.counting import tokens_too_many
from evalbot.endpoints.preflight import inspect, loaded_model
from evalbot.endpoints.request import root_url
from tests.running.site import Site

CAPITAL = "What is the capital of France? Answer in one word."
LONG = "one two three four five " * 200


def settings(url: str, max_tokens: int = 16, **extra_body: Any) -> EndpointSettings:
    sampling = {"temperature": 0, "max_tokens": max_tokens}
    return EndpointSettings(
        "e", url, sampling=sampling, extra_body=extra_body, timeout_s=60, retries=0
    )


def look(url: str) -> EndpointFacts:
    async def once() -> EndpointFacts:
        async with open_session(settings(url)) as session:
            return await inspect(session, settings(url))

    return asyncio.run(once())


def ask(
    url: str, prompt: str, max_tokens: int = 16, slot_context: int | None = None, **extra_body: Any
) -> Answer:
    async def once() -> Answer:
        endpoint = settings(url, max_tokens, **extra_body)
        async with open_session(endpoint) as session:
            client = EndpointClient(session, endpoint, slot_context)
            return await client.ask([Message("user", prompt)])

    return asyncio.run(once())


async def is_processing(session: aiohttp.ClientSession, endpoint: EndpointSettings) -> bool:
    async with session.get(f"{root_url(endpoint)}/slots") as reply:
        return any(slot["is_processing"] for slot in await reply.json())


def test_the_servers_facts_are_found(smollm2: str) -> None:
    facts = look(smollm2)
    assert (facts.slots, facts.slot_context) == (2, 512)
    assert facts.can_count
    assert (facts.template_tokens or 0) > 5
    assert facts.thinking_switch is False
    loaded = facts.loaded
    assert (loaded.id, loaded.family, loaded.parameters) == ("smollm2", "smollm", 134_515_008)
    assert "Q4_1" in (loaded.quantisation or "")


def test_the_same_model_keeps_its_fingerprint_and_another_has_another(
    smollm2: str, gemma3: str
) -> None:
    async def fingerprint(url: str) -> str:
        async with open_session(settings(url)) as session:
            return (await loaded_model(session, settings(url))).fingerprint

    first = asyncio.run(fingerprint(smollm2))
    ask(smollm2, CAPITAL)
    assert asyncio.run(fingerprint(smollm2)) == first == look(smollm2).loaded.fingerprint
    assert asyncio.run(fingerprint(gemma3)) != first


def test_an_answer_is_streamed_and_timed_by_the_server(smollm2: str) -> None:
    said = ask(smollm2, CAPITAL, max_tokens=32)
    assert (said.status, said.finish_reason) == (S.OK, "stop")
    assert "Paris" in said.text
    usage, timing = said.usage, said.timing
    assert usage.prompt_tokens
    assert usage.completion_tokens
    assert timing.source == "server"
    assert timing.decode_tps
    assert timing.ttfr_ms
    assert timing.ttft_ms
    assert timing.total_ms
    assert timing.ttfr_ms <= timing.ttft_ms <= timing.total_ms
    assert timing.ttfot_ms == timing.ttft_ms


def test_many_answers_in_a_row_never_meet_a_closed_connection(smollm2: str) -> None:
    """The server closes each connection shortly after a stream, though it says keep-alive."""

    async def many() -> list[S]:
        endpoint = settings(smollm2, 2)
        async with open_session(endpoint) as session:
            client = EndpointClient(session, endpoint)
            turns = [[Message("user", f"Count to {i}.")] for i in range(20)]
            return [(await client.ask(turn)).status for turn in turns]

    assert S.CONNECTION not in asyncio.run(many())


def test_a_cached_prompt_has_no_prefill_speed(smollm2: str) -> None:
    prompt = "Count: " + "one two three four " * 20
    fresh, cached = (ask(smollm2, prompt, 2, cache_prompt=cache) for cache in (False, True))
    assert not fresh.usage.cached_tokens
    assert fresh.timing.prefill_tps
    assert cached.usage.cached_tokens
    assert cached.timing.prefill_tps is None


def test_a_cut_answer_is_told(gemma3: str) -> None:
    said = ask(gemma3, "Hello", max_tokens=8)
    assert (said.status, said.finish_reason) == (S.TRUNCATED, "length")
    assert said.usage.completion_tokens == 8
    assert said.error_detail == "max_tokens 8 reached"


def test_a_full_slot_is_told_from_a_limit(gemma3: str) -> None:
    said = ask(gemma3, "word " * 215, 200, look(gemma3).slot_context)
    assert said.status is S.TRUNCATED
    assert "context of 256 tokens was full" in (said.error_detail or "")


def test_a_prompt_too_long_is_counted_and_refused(smollm2: str) -> None:
    facts = look(smollm2)

    async def count() -> int | None:
        async with open_session(settings(smollm2)) as session:
            turns = [Message("user", LONG)]
            return await tokens_too_many(session, settings(smollm2), facts, turns)

    tokens = asyncio.run(count())
    assert tokens is not None
    assert tokens > 512
    said = ask(smollm2, LONG)  # sent all the same
    assert said.status is S.CONTEXT_OVERFLOW
    assert f"prompt {tokens} tokens, context 512 tokens" in (said.error_detail or "")
    assert said.retries == ()


def test_a_cancelled_answer_frees_its_slot(gemma3: str) -> None:
    async def cancelled() -> Answer:
        endpoint = settings(gemma3, max_tokens=400)
        async with open_session(endpoint) as session:
            came = asyncio.Event()
            client = EndpointClient(session, endpoint)
            turns = [Message("user", "Hello")]
            asking = asyncio.create_task(client.ask(turns, on_text=lambda *_: came.set()))
            await came.wait()
            assert await is_processing(session, endpoint)
            asking.cancel()
            said = await asking
            async with asyncio.timeout(30):
                while await is_processing(session, endpoint):  # noqa: ASYNC110 - only it knows
                    await asyncio.sleep(0.01)
            return said

    said = asyncio.run(cancelled())
    assert said.status is S.CANCELLED
    assert (said.usage.completion_tokens or 0) < 400


def test_a_small_run_over_two_endpoints(tmp_path: Path, smollm2: str, gemma3: str) -> None:
    site = Site(tmp_path)
    site.write_cases([CAPITAL, "Say hello.", LONG])
    for name, url in (("smol", smollm2), ("gemma", gemma3)):
        sampling = {"temperature": 0, "max_tokens": 8}
        site.endpoint(name, url, sampling=sampling, timeout_s=60, group="cpu")
    prepared = site.new()
    assert site.work(prepared)
    run = prepared.run.id
    statuses = {(one.place.endpoint, one.place.case): one.answer.status
                for one in site.answers(run)}  # fmt: skip
    assert statuses["gemma", "c0"] is statuses["gemma", "c1"] is S.TRUNCATED
    assert statuses["smol", "c2"] is statuses["gemma", "c2"] is S.CONTEXT_OVERFLOW
    assert statuses["smol", "c0"] in (S.OK, S.TRUNCATED)
    after = site.run(run)
    assert after.state is RunState.FINISHED
    assert [one.concurrency for one in after.endpoints] == [2, 1]
    site.check_record(run)
    assert site.resume(run, repeats=2)
    assert len(site.answers(run)) == 12
    site.check_record(run)
