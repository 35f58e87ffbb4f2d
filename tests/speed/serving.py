"""What a server answers while it is measured, and prompts in words."""

from __future__ import annotations

from collections.abc import Callable

from tests.fault_server import (
    DONE,
    ROLE,
    TEMPLATE_TOKENS,
    Chat,
    FaultServer,
    Part,
    Reply,
    chunk,
    usage,
)

PREDICTED_MS = 10.0
"""What a token takes by the server's own clock; the test server writes all at once."""


def words(text: str) -> int:
    """Tokens where each word is one."""
    return len(text.split())


def written(
    chat: Chat,
    *,
    cached: int = 0,
    tokens: int | None = None,
    before: tuple[Part, ...] = (),
    counts: bool = True,
    timings: bool = True,
) -> Reply:
    """A stream of as many tokens as were asked for, or of these, told as llama.cpp does.

    before: what happens before the first token.
    """
    many = chat.body["max_tokens"] if tokens is None else tokens
    prompt = TEMPLATE_TOKENS + words(chat.prompt)
    said = {
        "cache_n": cached,
        "prompt_n": prompt - cached,
        "prompt_ms": float(prompt - cached),
        "predicted_n": many,
        "predicted_ms": PREDICTED_MS * (many - 1),
    }
    told = {"timings": said} if timings else {}
    end = (usage(prompt, many, cached, **told),) if counts else ()
    return Reply(
        (ROLE, *before, *(chunk("w ") for _ in range(many)), chunk(finish="length"), *end, DONE)
    )


def measured(server: FaultServer) -> FaultServer:
    """The server, writing whatever is asked for; a word is a token."""
    server.size, server.reply = words, written
    return server


def by_number(*replies: Callable[[Chat], Reply]) -> Callable[[Chat], Reply]:
    """The first chat answered by the first of these, and so on; the last one is repeated."""
    left = list(replies)

    def reply(chat: Chat) -> Reply:
        return (left.pop(0) if len(left) > 1 else left[0])(chat)

    return reply
