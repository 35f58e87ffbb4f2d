from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts, LoadedModel
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.counting import count_tokens, surely_fits, tokens_too_many
from tests.fault_server import FaultServer, closed_port

from .asking import settings, user

MODEL = LoadedModel("m", "f")
FACTS = EndpointFacts(MODEL, slot_context=100, template_tokens=11, can_count=True)


def count(base_url: str) -> int | None:
    async def once() -> int | None:
        endpoint = settings(base_url)
        async with open_session(endpoint) as session:
            return await count_tokens(session, endpoint, user("hello"))

    return asyncio.run(once())


def too_many(server: FaultServer, text: str, facts: EndpointFacts = FACTS) -> int | None:
    async def once() -> int | None:
        endpoint = settings(server.base_url, sampling={"max_tokens": 8})
        async with open_session(endpoint) as session:
            return await tokens_too_many(session, endpoint, facts, user(text))

    return asyncio.run(once())


def test_the_server_counts_the_whole_chat(server: FaultServer) -> None:
    assert count(server.base_url) == 15


@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_a_server_that_does_not_count_is_no_fault(status: int, server: FaultServer) -> None:
    server.route_status["/v1/chat/completions/input_tokens"] = status
    assert count(server.base_url) is None


def test_nobody_there_is_no_count() -> None:
    with closed_port() as url:
        assert count(url) is None


@pytest.mark.parametrize(("length", "expected"), [(89, None), (90, 100), (91, 101), (500, 510)])
def test_a_prompt_as_long_as_the_context_cannot_fit(
    length: int, expected: int | None, server: FaultServer
) -> None:
    assert too_many(server, "x" * length) == expected
    assert server.counted == ["x" * length]


def test_what_surely_fits_is_not_counted(server: FaultServer) -> None:
    assert too_many(server, "x" * 81) is None
    assert server.counted == []


@pytest.mark.parametrize(
    "facts",
    [
        EndpointFacts(MODEL, slot_context=None, template_tokens=11, can_count=True),
        EndpointFacts(MODEL, slot_context=100, template_tokens=None, can_count=False),
    ],
)
def test_without_facts_nobody_can_say(facts: EndpointFacts, server: FaultServer) -> None:
    assert too_many(server, "x" * 500, facts) is None
    assert server.counted == []


@pytest.mark.parametrize(
    ("text", "fits"), [("x" * 81, True), ("x" * 82, False), ("青" * 27, True), ("青" * 28, False)]
)
def test_bytes_bound_tokens(text: str, fits: bool) -> None:
    assert surely_fits(FACTS, user(text), 8) is fits


@given(st.lists(st.text(st.characters()), max_size=5), st.integers(0, 200))
def test_no_text_is_a_fault(texts: list[str], max_tokens: int) -> None:
    turns: list[Any] = [Message("user", text) for text in texts]
    surely_fits(FACTS, turns, max_tokens)
