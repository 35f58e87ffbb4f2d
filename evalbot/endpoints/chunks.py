"""What one JSON object from a chat endpoint says, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalbot.domain.answers import Usage
from evalbot.formats.received import shorten

LARGEST_NUMBER = 2**31 - 1


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


class Chunk(NamedTuple):
    """The parts of a reply that one object carried; empty text is no text.

    is_whole: the object is the reply of a server that does not stream.
    """

    content: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None
    timings: ServerTimings | None = None
    error: Any = None
    is_whole: bool = False


def read_chunk(data: bytes) -> Chunk:
    """Read one object; raises ValueError where it is no JSON object in UTF-8."""
    return chunk_of(read_json(data))


def read_json(data: bytes) -> Any:
    """A JSON value; raises ValueError where it is none, or nested beyond all reason."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise NotAChunkError("nested too deeply") from error


def chunk_of(value: Any) -> Chunk:
    """Read one decoded object; raises ValueError where it is none.

    Usage and timings are read before the choices: they come in an event of their own
    whose list of choices is empty.
    """
    if not isinstance(value, dict):
        raise NotAChunkError(f"expected a JSON object, found {type(value).__name__}")
    if value.get("error"):
        return Chunk(error=value["error"])
    choice = _first_choice(value.get("choices"))
    is_whole = "message" in choice and "delta" not in choice
    said = choice.get("message" if is_whole else "delta") or {}
    if not isinstance(said, dict):
        raise NotAChunkError("expected an object as delta or message")
    finish = choice.get("finish_reason")
    return Chunk(
        content=_text(said.get("content")) or _text(choice.get("text")),
        reasoning=_text(said.get("reasoning_content")) or _text(said.get("reasoning")),
        finish_reason=shorten(finish) or None if isinstance(finish, str) else None,
        usage=_usage(value.get("usage")),
        timings=_timings(value.get("timings")),
        is_whole=is_whole,
    )


def _first_choice(choices: Any) -> dict[str, Any]:
    """The choice at index 0; empty where this object carries none or only another one."""
    if not isinstance(choices, list):
        return {}
    for choice in choices:
        if not isinstance(choice, dict):
            raise NotAChunkError("expected an object in choices")
        if choice.get("index") in (None, 0, "0"):
            return choice
    return {}


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
    """A number that can be one of tokens or milliseconds, and that every database can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_NUMBER else None
