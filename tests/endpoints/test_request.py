from __future__ import annotations

from typing import Any

import pytest

from evalbot.domain.cases import Message
from evalbot.domain.settings import DEFAULT_MAX_TOKENS, Thinking
from evalbot.endpoints.request import chat_body, chat_url, headers, root_url, thinking_fields
from evalbot.errors import InputError

from .asking import settings, user

URL = "http://127.0.0.1:1/v1"


def body(**fields: Any) -> dict[str, Any]:
    return chat_body(settings(URL, **fields), user("hello"))


def test_a_stream_with_usage_and_a_token_limit_is_always_asked_for() -> None:
    assert body() == {
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": DEFAULT_MAX_TOKENS,
    }


def test_the_settings_are_sent() -> None:
    sent = body(
        model="qwen",
        sampling={"temperature": 0, "max_tokens": 8, "seed": 1},
        extra_body={"cache_prompt": False, "seed": 2},
    )
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("qwen", 0, 8)
    assert (sent["cache_prompt"], sent["seed"]) == (False, 2)


def test_the_turns_are_sent_in_order() -> None:
    turns = [Message("system", "s"), Message("user", "a"), Message("assistant", "b")]
    sent = chat_body(settings(URL), turns)["messages"]
    assert [turn["role"] for turn in sent] == ["system", "user", "assistant"]


@pytest.mark.parametrize("thinking", list(Thinking))
def test_the_thinking_switch(thinking: Thinking) -> None:
    fields = thinking_fields(thinking)
    switch = fields.get("chat_template_kwargs", {}).get("enable_thinking")
    assert switch is {Thinking.DEFAULT: None, Thinking.OFF: False}.get(thinking, True)
    effort = thinking if thinking in (Thinking.LOW, Thinking.MEDIUM, Thinking.HIGH) else None
    assert fields.get("reasoning_effort") == effort


def test_the_key_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "abc")
    assert headers(settings(URL, api_key_env="TEST_KEY"))["Authorization"] == "Bearer abc"
    assert "Authorization" not in headers(settings(URL))


@pytest.mark.parametrize("value", [None, "", " "])
def test_a_key_that_is_not_set_is_told(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(InputError, match="TEST_KEY is not set"):
        headers(settings(URL, api_key_env="TEST_KEY"))


@pytest.mark.parametrize("value", ["a\nb", "ключ"])
def test_a_key_that_cannot_be_sent_is_told(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(InputError, match="cannot be sent") as caught:
        headers(settings(URL, api_key_env="TEST_KEY"))
    assert value not in str(caught.value)


def test_white_space_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "abc\n")
    assert headers(settings(URL, api_key_env="TEST_KEY"))["Authorization"] == "Bearer abc"


@pytest.mark.parametrize("base", [URL, URL + "/"])
def test_the_routes(base: str) -> None:
    endpoint = settings(base)
    assert chat_url(endpoint) == "http://127.0.0.1:1/v1/chat/completions"
    assert root_url(endpoint) == "http://127.0.0.1:1"
