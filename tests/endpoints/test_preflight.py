from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalbot.domain.endpoints import EndpointFacts, LoadedModel
from evalbot.domain.settings import Thinking
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.preflight import inspect, loaded_model, wait_until_healthy
from evalbot.errors import EndpointError
from tests.fault_server import FaultServer, closed_port, free_port

from .asking import settings


def look(base_url: str, **fields: Any) -> EndpointFacts:
    async def once() -> EndpointFacts:
        endpoint = settings(base_url, **fields)
        async with open_session(endpoint) as session:
            return await inspect(session, endpoint)

    return asyncio.run(once())


def model_of(base_url: str, **fields: Any) -> LoadedModel:
    async def once() -> LoadedModel:
        endpoint = settings(base_url, **fields)
        async with open_session(endpoint) as session:
            return await loaded_model(session, endpoint)

    return asyncio.run(once())


def wait(base_url: str, longest_s: float = 0.0, *, starting: bool = False) -> None:
    async def once() -> None:
        endpoint = settings(base_url)
        async with open_session(endpoint) as session:
            await wait_until_healthy(session, endpoint, longest_s, starting=starting)

    asyncio.run(once())


def test_a_llama_server_tells_all(server: FaultServer) -> None:
    facts = look(server.base_url, thinking=Thinking.OFF)
    assert (facts.slots, facts.slot_context) == (4, 4096)
    assert (facts.can_count, facts.template_tokens) == (True, 11)
    assert facts.thinking_switch is True
    assert facts.warnings == ()
    loaded = facts.loaded
    assert (loaded.id, loaded.family, loaded.quantisation) == ("qwen-test", "qwen", "Q4_1")
    assert (loaded.parameters, loaded.build) == (134515008, "b1-test")


def test_another_server_tells_its_model_only() -> None:
    with FaultServer("gemma", llama=False) as server:
        facts = look(server.base_url)
    assert facts.loaded.family == "gemma"
    unknown = (facts.slots, facts.slot_context, facts.template_tokens, facts.thinking_switch)
    assert unknown == (None,) * 4
    assert not facts.can_count


@pytest.mark.parametrize("status", [400, 404, 405, 500, 501, 502])
def test_every_route_but_the_chat_is_optional(status: int, server: FaultServer) -> None:
    for route in ("/v1/models", "/props", "/v1/chat/completions/input_tokens"):
        server.route_status[route] = status
    assert look(server.base_url, model="m").loaded.id == "m"


def test_settings_of_our_own_come_first(server: FaultServer) -> None:
    loaded = look(server.base_url, family="mine", quantisation="Q9").loaded
    assert (loaded.family, loaded.quantisation) == ("mine", "Q9")


def test_a_name_the_server_does_not_use_is_warned_of(server: FaultServer) -> None:
    assert "calls its model 'qwen-test'" in look(server.base_url, model="other").warnings[0]


def test_of_several_models_the_named_one_is_taken(server: FaultServer) -> None:
    server.models = ["a", "b"]
    assert look(server.base_url, model="b").loaded.id == "b"


@pytest.mark.parametrize("model", [None, "c"])
def test_of_several_models_one_must_be_named(model: str | None, server: FaultServer) -> None:
    server.models = ["a", "b"]
    with pytest.raises(EndpointError, match="set model to one of: a, b"):
        look(server.base_url, model=model)


def test_a_thinking_switch_the_template_lacks_is_warned_of(server: FaultServer) -> None:
    server.template = "plain"
    assert "no such switch" in look(server.base_url, thinking=Thinking.ON).warnings[0]
    assert look(server.base_url).warnings == ()


def test_a_limit_as_large_as_the_context_is_warned_of(server: FaultServer) -> None:
    facts = look(server.base_url, sampling={"max_tokens": 4096})
    assert "is not below the context per slot (4096)" in facts.warnings[0]


def test_numbers_no_server_can_mean_are_unknown(server: FaultServer) -> None:
    server.slots = server.slot_context = 10**12
    facts = look(server.base_url)
    assert (facts.slots, facts.slot_context) == (None, None)


def test_names_are_made_such_that_they_can_be_stored(server: FaultServer) -> None:
    server.models = ["a\x00b\ud83d"]
    assert look(server.base_url).loaded.id == "a\ufffdb\ufffd"


def test_nobody_there_is_a_connection_failure() -> None:
    with closed_port() as url, pytest.raises(EndpointError, match="is the server running") as told:
        look(url)
    assert told.value.status == "connection"


def test_a_refused_key_is_told(server: FaultServer) -> None:
    server.key = "k"
    with pytest.raises(EndpointError, match="check api_key_env") as told:
        look(server.base_url)
    assert told.value.status == "http"


def test_another_model_has_another_fingerprint(server: FaultServer) -> None:
    before = model_of(server.base_url).fingerprint
    assert (
        model_of(server.base_url).fingerprint == before == look(server.base_url).loaded.fingerprint
    )
    server.models = ["other"]
    assert model_of(server.base_url).fingerprint != before


def test_another_template_is_another_model(server: FaultServer) -> None:
    before = model_of(server.base_url).fingerprint
    server.template = "new"
    assert model_of(server.base_url).fingerprint != before


@pytest.mark.parametrize("status", [429, 500, 502, 503])
@pytest.mark.parametrize("route", ["/v1/models", "/props"])
def test_a_route_that_fails_for_the_moment_proves_nothing(
    route: str, status: int, server: FaultServer
) -> None:
    server.route_status[route] = status
    with pytest.raises(EndpointError):
        model_of(server.base_url)


def test_a_healthy_server_is_not_waited_for(server: FaultServer) -> None:
    wait(server.base_url)
    server.llama = False
    wait(server.base_url)


def test_a_loading_server_is_waited_for(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.endpoints.preflight.HEALTH_PAUSE_S", 0.01)
    server.health = 503
    with pytest.raises(EndpointError, match="loading the model"):
        wait(server.base_url, 0.1)

    async def loaded_later() -> None:
        endpoint = settings(server.base_url)
        async with open_session(endpoint) as session:
            waiting = asyncio.create_task(wait_until_healthy(session, endpoint, 30, starting=False))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            server.health = 200
            await waiting

    asyncio.run(loaded_later())


def test_a_server_that_nobody_started_is_not_waited_for() -> None:
    with closed_port() as url, pytest.raises(EndpointError, match="is it running"):
        wait(url, longest_s=3600)


def test_a_server_that_was_started_may_be_missing_for_a_while() -> None:
    port = free_port()

    async def comes_later() -> None:
        endpoint = settings(f"http://127.0.0.1:{port}/v1")
        async with open_session(endpoint) as session:
            waiting = asyncio.create_task(wait_until_healthy(session, endpoint, 30, starting=True))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            server = FaultServer()
            server.port = port
            with server:
                await waiting

    asyncio.run(comes_later())


def test_not_even_a_started_server_is_waited_for_longer_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evalbot.endpoints.preflight.HEALTH_PAUSE_S", 0.01)
    with closed_port() as url, pytest.raises(EndpointError, match="not ready"):
        wait(url, 0.05, starting=True)
