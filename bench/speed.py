"""(e) What a sweep measures, beside a client that does nothing else, and beside the truth.

On a real llama.cpp server: throughput of four streams against a bare client with the same
prompts, in turns, and the decode rate by our clock against the server's own. On a server
whose tokens are the moments at which it wrote them: the time to the first one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import aiohttp

from bench.site import instant_server
from evalbot.demo import models
from evalbot.demo.servers import DemoModel, serving
from evalbot.domain.answers import Answer
from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings
from evalbot.domain.sweeps import Sample
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.counting import count_tokens
from evalbot.endpoints.request import chat_body, chat_url
from evalbot.speed.asking import NO_RETRIES, ask_round, measuring
from evalbot.speed.prompts import Prompt, PromptMaker
from evalbot.speed.samples import aggregate_tps

CONTEXT, WRITTEN, STREAMS, ROUNDS = 256, 64, 4, 8
GAP_S, AT_ONCE, ANSWERS = 0.02, (1, 4, 16), 320


def measure(folder: Path) -> Iterator[str]:
    """Lines for the report."""
    with serving([DemoModel(models.smollm2(folder), "smollm2")], folder) as [address]:
        yield from asyncio.run(_against_bare(f"{address}/v1"))
    with instant_server(GAP_S) as address:
        for streams in AT_ONCE:
            added = asyncio.run(_first_tokens(f"{address}/v1", streams))
            p95 = quantiles(added, n=20)[-1]
            yield (
                f"first token at {streams} at once: {len(added)} streams, median "
                f"{median(added):.2f} ms after it was written, p95 {p95:.2f} ms (goal 2)"
            )


async def _against_bare(base_url: str) -> list[str]:
    endpoint = measuring(EndpointSettings("smollm2", base_url), WRITTEN)
    ours: list[list[Sample]] = []
    bare_tokens, bare_s = 0, 0.0
    async with open_session(endpoint) as session, aiohttp.ClientSession() as bare:

        async def count(text: str) -> int | None:
            return await count_tokens(session, endpoint, [Message("user", text)])

        maker = PromptMaker(count, "bench")
        client = EndpointClient(session, endpoint, policy=NO_RETRIES)
        for round_ in range(ROUNDS + 1):
            prompts = [await maker.make(CONTEXT) for _ in range(STREAMS)]
            bodies = [chat_body(endpoint, [Message("user", one.text)]) for one in prompts]
            # In turns, each first as often as second; the first pair only warms up.
            if round_ % 2:
                samples = await ask_round(client, prompts)
                tokens, seconds = await _bare_round(bare, chat_url(endpoint), bodies)
            else:
                tokens, seconds = await _bare_round(bare, chat_url(endpoint), bodies)
                samples = await ask_round(client, prompts)
            if round_:
                ours.append(samples)
                bare_tokens, bare_s = bare_tokens + tokens, bare_s + seconds
    gave = aggregate_tps(ours)
    assert gave is not None
    bare_tps = bare_tokens / bare_s
    apart = [
        abs(one.stream_tps / one.timing.decode_tps - 1)
        for samples in ours
        for one in samples
        if one.stream_tps and one.timing.decode_tps
    ]
    return [
        f"{STREAMS} streams of {CONTEXT}+{WRITTEN} tokens, {ROUNDS} rounds each: "
        f"{gave:.1f} tok/s, bare aiohttp {bare_tps:.1f}: {gave / bare_tps:.3f} of it (goal 0.97)",
        f"decode by our clock against the server's own, {len(apart)} streams: median "
        f"{median(apart):.2%} apart, p95 {quantiles(apart, n=20)[-1]:.2%} (goal 2 %)",
    ]


async def _bare_round(
    session: aiohttp.ClientSession, url: str, bodies: Sequence[dict[str, Any]]
) -> tuple[int, float]:
    """Tokens of all streams, and seconds until the last one had ended."""
    began = time.perf_counter()
    tokens = await asyncio.gather(*(_bare_stream(session, url, body) for body in bodies))
    return sum(tokens), time.perf_counter() - began


async def _bare_stream(session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> int:
    tokens = 0
    async with session.post(url, json=body) as reply:
        async for line in reply.content:
            if line.startswith(b"data: {"):
                usage = json.loads(line[6:]).get("usage")
                tokens = usage["completion_tokens"] if usage else tokens
    return tokens


class _Keeping(EndpointClient):
    """Keeps whole answers, whose tokens tell when they were written."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.answers: list[Answer] = []

    async def ask(self, *arguments: Any, **named: Any) -> Answer:
        answer = await super().ask(*arguments, **named)
        self.answers.append(answer)
        return answer


async def _first_tokens(base_url: str, streams: int) -> list[float]:
    """Milliseconds from the writing of each first token to when a sweep says that it came."""
    endpoint = measuring(EndpointSettings("instant", base_url), WRITTEN)
    async with open_session(endpoint) as session:
        client = _Keeping(session, endpoint, policy=NO_RETRIES)
        for _ in range(ANSWERS // streams if streams > 1 else ANSWERS // 4):
            await ask_round(client, [Prompt("x", None)] * streams)
    return [
        1000 * (one.started_at.timestamp() - float(one.text.split()[0])) + one.timing.ttft_ms
        for one in client.answers
        if one.timing.ttft_ms is not None
    ]
