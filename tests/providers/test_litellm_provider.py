"""A judge through the real litellm, against a judge server of the tests' own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from evalbot.domain.answers import Usage
from evalbot.domain.judging import JudgeRequest, ProviderError, ProviderReply
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError
from evalbot.providers import litellm_provider
from evalbot.providers.litellm_provider import LitellmProvider
from tests.judge_server import JudgeServer, Said

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}}
REQUEST = JudgeRequest("rules", "question", {"temperature": 0, "max_tokens": 50, "seed": 3}, SCHEMA)
GOOD = '{"verdict":"correct"}'

# litellm leaves its connections to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm_provider, "FIRST_PAUSE_S", 0.01)


def complete(
    server: JudgeServer, request: JudgeRequest = REQUEST, **settings: Any
) -> ProviderReply:
    judge = JudgeSettings("strong", "openai/judge", api_base=server.api_base, **settings)
    return asyncio.run(LitellmProvider(judge).complete(request))


def test_what_is_sent_and_what_comes_back() -> None:
    with JudgeServer(Said(GOOD)) as server:
        reply = complete(server)
    assert (reply.text, reply.finish_reason, reply.refused) == (GOOD, "stop", False)
    assert reply.usage == Usage(100, 40, 20)
    assert reply.cost_usd is None  # nobody knows what this model costs
    assert (reply.latency_s or 0) > 0
    [body] = server.bodies
    assert [turn["content"] for turn in body["messages"]] == ["rules", "question"]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0, 50, 3)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_the_configs_price_counts() -> None:
    with JudgeServer(Said(GOOD)) as server:
        reply = complete(server, price={"input": 3.0, "output": 15.0})
    assert reply.cost_usd == pytest.approx((100 * 3 + 20 * 15) / 1e6)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Unsupported parameter: 'temperature'", "temperature"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        ("'response_format' is not supported by this server", "response_format"),
        ("Unknown parameter: 'seed'.", "seed"),
        ("the prompt is not nice", None),
    ],
)
def test_a_parameter_that_is_refused_is_named(words: str, name: str | None) -> None:
    with JudgeServer(Said(words, status=400)) as server, pytest.raises(ProviderError) as told:
        complete(server)
    assert (told.value.parameter, len(server.bodies)) == (name, 1)
    assert words in told.value.detail


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_servers_are_asked_again_and_not_for_ever(status: int) -> None:
    busy = Said("busy", status=status, headers={"Retry-After": "0.01"})
    with JudgeServer(busy, Said(GOOD)) as server:
        assert complete(server).text == GOOD
    assert len(server.bodies) == 2
    with JudgeServer(busy) as server, pytest.raises(ProviderError):
        complete(server, retries=2)
    assert len(server.bodies) == 3


def test_refusals_are_told_from_replies() -> None:
    with JudgeServer(Said(refusal="I will not.", finish="stop")) as server:
        reply = complete(server)
    assert (reply.refused, reply.text) == (True, "I will not.")
    with JudgeServer(Said("", finish="content_filter")) as server:
        assert complete(server).refused


def test_the_key_comes_from_its_variable_and_is_in_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-secret")
    wrong = Said("bad key sk-canary-secret", status=401)
    with JudgeServer(Said(GOOD), wrong) as server:
        complete(server, api_key_env="MY_KEY")
        assert server.keys == ["Bearer sk-canary-secret"]
        with pytest.raises(ProviderError) as told:
            complete(server, api_key_env="MY_KEY")
    assert "canary" not in told.value.detail
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(InputError, match="MY_KEY is not set"):
        LitellmProvider(JudgeSettings("strong", "openai/judge", api_key_env="MY_KEY"))


def test_nobody_there_is_an_error_after_the_retries() -> None:
    judge = JudgeSettings("strong", "openai/judge", api_base="http://127.0.0.1:1/v1", retries=1)
    with pytest.raises(ProviderError):
        asyncio.run(LitellmProvider(judge).complete(REQUEST))


def test_importing_the_module_does_not_import_litellm() -> None:
    code = "import sys, evalbot.providers.litellm_provider; print('litellm' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{"index": 0, "finish_reason": "stop"}]},
        {"choices": "none"},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": ["x"]}}]},
        {"usage": "many"},
        {"usage": ["many"]},
    ],
)
def test_a_reply_of_another_form_is_an_error_in_one_sentence(changes: dict[str, Any]) -> None:
    with JudgeServer(Said(GOOD, changes=changes)) as server:
        try:
            told = complete(server, retries=0).text
        except ProviderError as error:
            told = error.detail
    assert "Traceback" not in told
    assert "site-packages" not in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": -9, "completion_tokens": -1, "total_tokens": -10},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30, "total_tokens": 10**30},
    ],
)
def test_token_counts_that_cannot_be_are_unknown_and_so_is_the_cost(
    usage: dict[str, int] | None,
) -> None:
    with JudgeServer(Said(GOOD, usage=usage)) as server:
        reply = complete(server, price={"input": 1.0, "output": 1.0})
    assert reply.text == GOOD
    assert reply.cost_usd is None
    assert reply.usage.prompt_tokens is None


def test_a_refused_request_is_told_from_a_provider_that_fails() -> None:
    with JudgeServer(Said("This model's maximum context length is 9 tokens", 400)) as server:
        with pytest.raises(ProviderError) as told:
            complete(server, retries=0)
    assert told.value.is_about_request
    with JudgeServer(Said("overloaded", 500)) as server, pytest.raises(ProviderError) as told:
        complete(server, retries=0)
    assert not told.value.is_about_request


def test_a_judge_without_a_key_has_its_errors_words_unchanged() -> None:
    with JudgeServer(Said("none of these, nonetheless", 400)) as server:
        with pytest.raises(ProviderError, match="none of these, nonetheless"):
            complete(server, retries=0)


@pytest.mark.parametrize("pause", ["nan", "-3", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_pause_that_is_none_is_not_waited_for(pause: str) -> None:
    busy = Said("slow down", 429, headers={"Retry-After": pause})
    with JudgeServer(busy, Said(GOOD)) as server:
        assert complete(server, retries=1).text == GOOD
