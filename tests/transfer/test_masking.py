from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.settings import Config, EndpointSettings, JudgeSettings
from evalbot.transfer.masking import Mask, mask_for

MASK = Mask(["gpu-box"])
PIECES = (
    "http://gpu-box:8080/v1", "10.0.0.5", "[::1]:80", "gpu-box", "/home/me/x.gguf", "'/a b/c'",
    "C:\\Users\\me", "host:80", "srv.lan", "[address]", "[path]", "[secret]", "sk-", "Bearer ",
    ":", "/", "~", " ", ".", "-", "'", "%eth0", "12", "fe80::1", "abcdef012345",
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        (
            "Cannot connect to host gpu-box:9931 ssl:default [Connect call failed "
            "('10.0.0.5', 9931)]",
            "Cannot connect to host [address] ssl:default [Connect call failed "
            "('[address]', 9931)]",
        ),
        ("see https://u:p@host.example/x?y=1 for more", "see [address] for more"),
        ("http://[::1]:8080/v1 refused", "[address] refused"),
        ("[fe80::1%eth0]:80 and fe80::1", "[address] and [address]"),
        ("GPU-BOX, srv.lan and localhost", "[address], [address] and [address]"),
        ("no file '/home/me/my models/x.gguf'", "no file '[path]'"),
        ("no file /var/lib/モデル/x.gguf: gone", "no file [path]: gone"),
        ("C:\\Users\\me\\x.gguf and ~/x/y", "[path] and [path]"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [secret]"),
        ("key sk-0123456789abcdef is wrong", "key [secret] is wrong"),
    ],
)  # fmt: skip
def test_addresses_paths_and_keys_go(words: str, masked: str) -> None:
    assert MASK.text(words) == masked


@pytest.mark.parametrize(
    "words",
    [
        "HTTP 500: the request exceeds the available context size (prompt 5000 tokens, "
        "context 4096 tokens)",
        "max_tokens 512 reached at 12:34:56, 3.5 tokens/s",
        "std::string, llama.cpp b1234 and/or v1.2.3",
        "use /no_think or /v1",
        "日本語：エラー",
    ],
)
def test_other_words_stay(words: str) -> None:
    assert MASK.text(words) == words


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join))
def test_masking_again_changes_nothing(words: str) -> None:
    once = MASK.text(words)
    assert MASK.text(once) == once


def test_settings_lose_their_secrets_and_keep_the_rest() -> None:
    settings = {
        "sampling": {"temperature": 0, "max_tokens": 512, "stop": ["</s>", "/end"]},
        "extra_body": {"api_key": "abc", "proxy": "http://gpu-box/", "nested": [{"token": "x"}]},
    }
    assert MASK.value(settings) == {
        "sampling": {"temperature": 0, "max_tokens": 512, "stop": ["</s>", "/end"]},
        "extra_body": {
            "api_key": "[secret]",
            "proxy": "[address]",
            "nested": [{"token": "[secret]"}],
        },
    }


def test_models_that_are_paths_become_their_file() -> None:
    assert MASK.model("/home/me/models/x.gguf") == "x.gguf"
    assert MASK.model("C:\\models\\x.gguf") == "x.gguf"
    assert MASK.model("org/name:32b") == "org/name:32b"
    assert MASK.model(None) is None


def test_the_config_names_the_hosts() -> None:
    config = Config(
        folder=Path(),
        endpoints=(EndpointSettings("m", "http://tower:8080/v1"),),
        judges=(JudgeSettings("j", "x/y", api_base="https://oracle/v1"),),
    )
    assert mask_for(config).text("tower asks oracle") == "[address] asks [address]"
