"""Asking the fault server one thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from evalbot.domain.answers import Answer
from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.chunks import Chunk
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.retrying import RetryPolicy

RECORDED = Path(__file__).parents[1] / "data/llama-server"
QUICK = RetryPolicy(first_pause_s=0.01)
AT_ONCE = RetryPolicy(retries=0)


def settings(base_url: str, **fields: Any) -> EndpointSettings:
    """An endpoint that is patient for half a second."""
    return EndpointSettings(**{"name": "e", "base_url": base_url, "timeout_s": 0.5, **fields})


def user(text: str) -> list[Message]:
    """A chat of one turn."""
    return [Message("user", text)]


def client_of(
    session: aiohttp.ClientSession, base_url: str, policy: RetryPolicy = AT_ONCE, **fields: Any
) -> EndpointClient:
    """A client that does not try again unless told to."""
    return EndpointClient(session, settings(base_url, **fields), policy=policy)


def ask(
    base_url: str,
    prompt: str = "hello",
    *,
    policy: RetryPolicy = AT_ONCE,
    slot_context: int | None = None,
    slots: int | None = None,
    on_text: Callable[[Chunk, float], None] | None = None,
    **fields: Any,
) -> Answer:
    """One answer."""

    async def once() -> Answer:
        endpoint = settings(base_url, **fields)
        async with open_session(endpoint) as session:
            client = EndpointClient(session, endpoint, slot_context, slots, policy)
            return await client.ask(user(prompt), on_text=on_text)

    return asyncio.run(once())
