from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import Usage
from evalbot.endpoints.chunks import Chunk, ServerTimings, chunk_of, read_chunk

from .asking import RECORDED


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


@pytest.mark.parametrize(
    ("value", "chunk"),
    [
        (delta(role="assistant", content=None), Chunk()),
        (delta(role="assistant", content=""), Chunk()),
        (delta(content="青"), Chunk(content="青")),
        (delta(reasoning_content="先"), Chunk(reasoning="先")),
        (delta(reasoning="先"), Chunk(reasoning="先")),
        (delta(reasoning="先", reasoning_content="先"), Chunk(reasoning="先")),
        (delta(content=[{"type": "text", "text": "a"}, {"text": "b"}]), Chunk(content="ab")),
        (delta(content=7, reasoning={"x": 1}), Chunk()),
        ({"choices": [{"delta": None, "finish_reason": "stop"}]}, Chunk(finish_reason="stop")),
        ({"choices": [{"delta": {}, "finish_reason": ""}]}, Chunk()),
        ({"choices": [{"delta": {}, "finish_reason": 3}]}, Chunk()),
        ({"choices": [{"index": 1, "delta": {"content": "other"}}]}, Chunk()),
        (
            {"choices": [{"index": 1, "delta": {"content": "b"}}, {"delta": {"content": "a"}}]},
            Chunk(content="a"),
        ),
        ({"choices": [{"message": {"content": "a"}}]}, Chunk(content="a", is_whole=True)),
        ({"choices": [{"delta": {}, "message": {"content": "all again"}}]}, Chunk()),
        ({"choices": []}, Chunk()),
        ({"choices": None}, Chunk()),
        ({}, Chunk()),
        ({"error": {"message": "slot lost"}}, Chunk(error={"message": "slot lost"})),
        ({"error": "words"}, Chunk(error="words")),
        ({"error": None, **delta(content="a")}, Chunk(content="a")),
    ],
)
def test_what_an_object_says(value: Any, chunk: Chunk) -> None:
    assert chunk_of(value) == chunk


def test_usage_is_read_beside_an_empty_list_of_choices() -> None:
    value = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    assert chunk_of(value).usage == Usage(prompt_tokens=9, completion_tokens=4)


def test_cached_tokens_are_read() -> None:
    value = {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}}
    assert chunk_of(value).usage == Usage(9, 8, None)


@pytest.mark.parametrize("count", [None, True, -1, 1.5, "7", 2**31, 10**400, float("nan")])
def test_a_count_that_is_none_is_missing(count: object) -> None:
    chunk = chunk_of({"usage": {"completion_tokens": count}, "timings": {"predicted_n": count}})
    assert chunk.usage == Usage()
    assert chunk.timings == ServerTimings()


@pytest.mark.parametrize("time", [None, "7", float("inf"), float("nan"), -1, 10**400])
def test_a_time_that_is_none_is_missing(time: object) -> None:
    assert chunk_of({"timings": {"prompt_ms": time}}).timings == ServerTimings()


@pytest.mark.parametrize(
    "data",
    [
        b"[]", b"7", b'"x"', b"null", b"{", b"", b"\xff", b'{"choices": ["x"]}',
        b'{"choices": [{"delta": "x"}]}', b"[" * 100_000, b'{"a":' * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_chunk_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_chunk(data)


KEYS = st.sampled_from(
    ["choices", "delta", "message", "content", "reasoning", "finish_reason", "usage", "timings",
     "error", "index", "prompt_tokens", "prompt_tokens_details", "predicted_n", "text"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_any_json_object_is_read_or_refused(value: dict[str, Any]) -> None:
    try:
        chunk = read_chunk(json.dumps(value).encode())
    except ValueError:
        return
    assert isinstance(chunk.content, str)


def test_the_recorded_stream() -> None:
    lines = (RECORDED / "chat_stream.sse").read_bytes().split(b"\n\n")
    chunks = [read_chunk(line.removeprefix(b"data: ")) for line in lines if b"{" in line]
    assert "".join(chunk.content for chunk in chunks) == "I'm glad you're here"
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["length"]
    assert chunks[-1].usage == Usage(32, 31, 6)
    assert chunks[-1].timings == ServerTimings(31, 1, 17.044, 6, 83.361)


def test_the_recorded_reply_that_was_no_stream() -> None:
    chunk = read_chunk((RECORDED / "chat.json").read_bytes())
    assert (chunk.content, chunk.finish_reason) == ("I'm glad you're here! I", "length")
    assert chunk.is_whole
