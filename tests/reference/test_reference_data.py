"""Checks over the reference folder that EVALBOT_REFERENCE names: `make reference`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.endpoints.chunks import read_chunk
from evalbot.endpoints.outcome import error_failure
from evalbot.endpoints.reply import Reply
from evalbot.endpoints.timing import StreamClock

pytestmark = pytest.mark.reference

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def reference() -> Path:
    return Path(os.environ["EVALBOT_REFERENCE"])


def test_our_copy_of_the_published_verdicts_is_theirs(reference: Path) -> None:
    ours = (DATA / "verdict_counts.csv").read_text(encoding="utf-8").split()
    assert ours == (reference / "published/verdict_counts.csv").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("name", ["chat_stream.sse", "chat_stream_no_usage.sse"])
def test_a_recorded_stream_is_read_whole(reference: Path, name: str) -> None:
    reply = Reply(StreamClock(sent=0.0), None)
    assert reply.feed((reference / "llama-server" / name).read_bytes()) is None
    assert reply.close() is None
    assert "".join(reply.content) == "I'm glad you're here"
    assert reply.finish_reason == "length"
    usage = reply.counted()
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (32, 31, 6)


def test_a_recorded_whole_reply_is_read(reference: Path) -> None:
    chunk = read_chunk((reference / "llama-server/chat.json").read_bytes())
    assert chunk.content == "I'm glad you're here! I"
    assert chunk.usage is not None
    assert chunk.usage.completion_tokens == 8


def test_the_recorded_overflows_are_overflows(reference: Path) -> None:
    replies = json.loads((reference / "llama-server/other_replies.json").read_text("utf-8"))
    for name in ("context_exceeded", "context_exceeded_stream"):
        failure = error_failure(json.loads(replies[name]["body"])["error"], replies[name]["status"])
        assert failure.status is AnswerStatus.CONTEXT_OVERFLOW
        assert "9031" in failure.detail
        assert "2048" in failure.detail
