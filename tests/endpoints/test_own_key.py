"""Our own key is never stored, whatever a server does with it."""

from __future__ import annotations

import pytest

from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.request import without_key


@pytest.mark.parametrize(
    ("key", "kept"),
    [("plainsupersecret99", "bad key: [key]"), ("plainsupersecret99\n", "bad key: [key]")],
)
def test_a_key_that_is_echoed_is_taken_out(
    monkeypatch: pytest.MonkeyPatch, key: str, kept: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    settings = EndpointSettings("a", "http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    assert without_key("bad key: plainsupersecret99", settings) == kept


def test_a_short_key_does_not_spoil_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "none")
    settings = EndpointSettings("a", "http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    assert without_key("there is none", settings) == "there is none"
