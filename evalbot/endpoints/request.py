"""What is sent to an endpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings, Thinking
from evalbot.errors import InputError

SHORTEST_KEY = 8
"""A shorter one is no secret, and may be a part of ordinary words."""


def chat_body(settings: EndpointSettings, messages: Sequence[Message]) -> dict[str, Any]:
    """The body of one streamed chat request; extra_body has the last word."""
    body: dict[str, Any] = {
        "messages": [{"role": turn.role, "content": turn.content} for turn in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        **settings.sampling,
        "max_tokens": settings.max_tokens,
        **thinking_fields(settings.thinking),
    }
    if settings.model is not None:
        body["model"] = settings.model
    return {**body, **settings.extra_body}


def thinking_fields(thinking: Thinking) -> dict[str, Any]:
    """How llama.cpp, vLLM and SGLang are told to think or not; nothing for `default`."""
    if thinking is Thinking.DEFAULT:
        return {}
    if thinking is Thinking.OFF:
        return {"chat_template_kwargs": {"enable_thinking": False}}
    if thinking is Thinking.ON:
        return {"chat_template_kwargs": {"enable_thinking": True}}
    return {
        "chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": str(thinking)},
        "reasoning_effort": str(thinking),
    }


def headers(settings: EndpointSettings) -> dict[str, str]:
    """Request headers; raises InputError where the key's variable is not set.

    No compression is asked for: a proxy that compresses holds tokens back.
    """
    plain = {"Accept-Encoding": "identity"}
    if settings.api_key_env is None:
        return plain
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise InputError(
            f"endpoint {settings.name}: the environment variable {settings.api_key_env} "
            "is not set; set it to the server's API key, or remove api_key_env"
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"endpoint {settings.name}: what stands in {settings.api_key_env} is no API key: "
            "it has characters that cannot be sent"
        )
    return {**plain, "Authorization": f"Bearer {key}"}


def without_key(text: str, settings: EndpointSettings) -> str:
    """A server's words without our own key, which some echo: it is never to be stored."""
    key = os.environ.get(settings.api_key_env or "", "").strip()
    return text.replace(key, "[key]") if len(key) >= SHORTEST_KEY else text


def root_url(settings: EndpointSettings) -> str:
    """Where llama.cpp's own routes stand: the base URL without its `/v1`."""
    return settings.base_url.rstrip("/").removesuffix("/v1")


def chat_url(settings: EndpointSettings) -> str:
    """Where chats are sent."""
    return settings.base_url.rstrip("/") + "/chat/completions"
