"""Prompts counted before they are sent, so that one that cannot fit never is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp

from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.request import chat_body, chat_url, root_url

LONGEST_COUNT_S = 30.0


async def count_tokens(
    session: aiohttp.ClientSession, settings: EndpointSettings, messages: Sequence[Message]
) -> int | None:
    """Tokens of a chat, template included, by the server's tokeniser; None if it does not say.

    Asked where llama.cpp counts chats today, then as its older builds and as vLLM count.
    """
    body = {**chat_body(settings, messages), "stream": False}
    body.pop("stream_options", None)
    counted = await _post(session, settings, chat_url(settings) + "/input_tokens", body)
    tokens = counted.get("input_tokens")
    if tokens is None:
        tokens = await _count_by_tokenising(session, settings, body)
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None


async def _count_by_tokenising(
    session: aiohttp.ClientSession, settings: EndpointSettings, body: dict[str, Any]
) -> Any:
    root = root_url(settings)
    fields = ("model", "messages", "chat_template_kwargs")
    chat = {name: body[name] for name in fields if name in body}
    counted = (await _post(session, settings, f"{root}/tokenize", chat)).get("count")
    if counted is not None:
        return counted
    prompt = (await _post(session, settings, f"{root}/apply-template", chat)).get("prompt")
    if not isinstance(prompt, str):
        return None
    whole = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = (await _post(session, settings, f"{root}/tokenize", whole)).get("tokens")
    return len(tokens) if isinstance(tokens, list) and tokens else None


async def _post(
    session: aiohttp.ClientSession, settings: EndpointSettings, url: str, body: dict[str, Any]
) -> dict[str, Any]:
    """A route's JSON object; empty where there is none."""
    limit = aiohttp.ClientTimeout(total=min(LONGEST_COUNT_S, settings.timeout_s))
    try:
        async with session.post(url, json=body, timeout=limit) as reply:
            value = await reply.json(content_type=None) if reply.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


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
