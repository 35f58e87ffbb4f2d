"""One round: some streams sent at the same moment, each timed by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings
from evalbot.domain.sweeps import Sample
from evalbot.endpoints.chunks import Chunk
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.retrying import RetryPolicy
from evalbot.endpoints.timing import StreamClock
from evalbot.running.together import finish
from evalbot.speed.prompts import Prompt

ASKED_FOR = {"cache_prompt": False, "ignore_eos": True}
"""A prompt is to be read anew each time, and all tokens asked for are to be written."""

ENDS_EARLIER = frozenset({"max_tokens", "max_completion_tokens", "n_predict", "stop"})
"""Settings that would have a stream write fewer tokens than the sweep says."""

NO_RETRIES = RetryPolicy(retries=0, retries_shared_context=False)
"""A second try would be timed as if it were the first."""

MEASURED = frozenset({AnswerStatus.OK, AnswerStatus.TRUNCATED, AnswerStatus.NO_ANSWER_BUDGET,
                      AnswerStatus.EMPTY, AnswerStatus.THINKING_UNCLOSED})  # fmt: skip
"""Statuses of streams that came to their end: how they read does not matter for speed."""


def measuring(endpoint: EndpointSettings, output_tokens: int) -> EndpointSettings:
    """The endpoint as a sweep asks it: its own sampling, but so many tokens and no cache."""
    sampling = {k: v for k, v in endpoint.sampling.items() if k not in ENDS_EARLIER}
    extra = {k: v for k, v in endpoint.extra_body.items() if k not in ENDS_EARLIER}
    return replace(
        endpoint,
        sampling={**sampling, "max_tokens": output_tokens},
        extra_body={**extra, **ASKED_FOR},
    )


async def ask_round(client: EndpointClient, prompts: Sequence[Prompt]) -> list[Sample]:
    """A sample for each prompt, all sent at once. When cancelled, the streams are closed."""
    began = time.perf_counter()
    return await finish(
        [
            asyncio.create_task(_stream(client, number, prompt, began))
            for number, prompt in enumerate(prompts, start=1)
        ]
    )


async def _stream(client: EndpointClient, number: int, prompt: Prompt, began: float) -> Sample:
    sent = time.perf_counter()
    clock = StreamClock(sent)

    def see(chunk: Chunk, at: float) -> None:
        if chunk.content or chunk.reasoning:
            clock.token(at)

    answer = await client.ask([Message("user", prompt.text)], on_text=see)
    return Sample(
        stream=number,
        status=answer.status,
        started_at=answer.started_at,
        offset_ms=1000 * (sent - began),
        error_detail=None if answer.status in MEASURED else answer.error_detail,
        usage=answer.usage,
        timing=answer.timing,
        stream_tps=clock.rate(answer.usage.completion_tokens),
    )
