"""Prompts counted before they are sent, so that one that cannot fit never is."""

from __future__ import annotations

from collections.abc import Sequence

import aiohttp

from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.request import chat_body, chat_url

LONGEST_COUNT_S = 30.0


async def count_tokens(
    session: aiohttp.ClientSession, settings: EndpointSettings, messages: Sequence[Message]
) -> int | None:
    """Tokens of a chat, template included, by the server's tokeniser; None if it does not say."""
    body = {**chat_body(settings, messages), "stream": False}
    body.pop("stream_options", None)
    url = chat_url(settings) + "/input_tokens"
    limit = aiohttp.ClientTimeout(total=min(LONGEST_COUNT_S, settings.timeout_s))
    try:
        async with session.post(url, json=body, timeout=limit) as reply:
            if reply.status != 200:
                return None
            value = await reply.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError):
        return None
    tokens = value.get("input_tokens") if isinstance(value, dict) else None
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None


def surely_fits(facts: EndpointFacts, messages: Sequence[Message], max_tokens: int) -> bool:
    """Whether a prompt fits without counting: a token has at least one byte of text."""
    if facts.slot_context is None or facts.template_tokens is None:
        return False
    text_bytes = sum(len(turn.content.encode("utf-8", "surrogatepass")) for turn in messages)
    allowance = facts.template_tokens * len(messages)
    return text_bytes + allowance + max_tokens <= facts.slot_context


async def tokens_too_many(
    session: aiohttp.ClientSession,
    settings: EndpointSettings,
    facts: EndpointFacts,
    messages: Sequence[Message],
) -> int | None:
    """The prompt's tokens where they cannot fit one slot; None where they fit or nobody knows."""
    if facts.slot_context is None or not facts.can_count:
        return None
    if surely_fits(facts, messages, settings.max_tokens):
        return None
    tokens = await count_tokens(session, settings, messages)
    return tokens if tokens is not None and tokens >= facts.slot_context else None
