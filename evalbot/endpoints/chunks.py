"""What one JSON object from a chat endpoint says, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalbot.domain.answers import Usage


class NotAChunkError(ValueError):
    """What came is no JSON object of a chat reply."""


@dataclass(frozen=True, slots=True)
class ServerTimings:
    """llama.cpp's `timings`: token counts and milliseconds; None where not given."""

    cache_n: int | None = None
    prompt_n: int | None = None
    prompt_ms: float | None = None
    predicted_n: int | None = None
    predicted_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """The parts of a reply that one object carried; empty text is no text."""

    content: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None
    timings: ServerTimings | None = None
    error: Any = None


def read_chunk(data: bytes) -> Chunk:
    """Read one object; raises ValueError where it is no JSON object in UTF-8."""
    return chunk_of(json.loads(data.decode("utf-8")))


def chunk_of(value: Any) -> Chunk:
    """Read one decoded object; raises ValueError where it is none.

    Usage and timings are read before the choices: they come in an event of their own
    whose list of choices is empty.
    """
    if not isinstance(value, dict):
        raise NotAChunkError(f"expected a JSON object, found {type(value).__name__}")
    if value.get("error") is not None:
        return Chunk(error=value["error"])
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choice, dict):
        raise NotAChunkError("expected an object in choices")
    said = choice.get("delta") or choice.get("message") or {}
    if not isinstance(said, dict):
        raise NotAChunkError("expected an object as delta or message")
    finish = choice.get("finish_reason")
    return Chunk(
        content=_text(said.get("content")) or _text(choice.get("text")),
        reasoning=_text(said.get("reasoning_content")) or _text(said.get("reasoning")),
        finish_reason=finish if isinstance(finish, str) else None,
        usage=_usage(value.get("usage")),
        timings=_timings(value.get("timings")),
    )


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        _count(value.get("prompt_tokens")), _count(cached), _count(value.get("completion_tokens"))
    )


def _timings(value: Any) -> ServerTimings | None:
    if not isinstance(value, Mapping):
        return None
    return ServerTimings(
        cache_n=_count(value.get("cache_n")),
        prompt_n=_count(value.get("prompt_n")),
        prompt_ms=_number(value.get("prompt_ms")),
        predicted_n=_count(value.get("predicted_n")),
        predicted_ms=_number(value.get("predicted_ms")),
    )


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None
