"""A judge model of the tests' own on 127.0.0.1: OpenAI's route, exact replies, any status."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.serving import Exchange, Serving

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass(frozen=True)
class Said:
    """One reply to one request; changes: fields of its body that are others."""

    text: str = ""
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, Any] | None = field(default_factory=lambda: dict(USAGE))
    changes: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        if self.status != 200:
            return {"error": {"message": self.text, "type": "error", "code": self.status}}
        message = {"role": "assistant", "content": self.text or None, "refusal": self.refusal}
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "judge",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": self.usage,
            **self.changes,
        }


class JudgeServer:
    """Serves while in its `with` block; the last reply is repeated.

    by: makes the reply of the request's body instead. pace_s: how long each takes.
    """

    def __init__(
        self,
        *replies: Said,
        by: Callable[[Mapping[str, Any]], Said] | None = None,
        pace_s: float = 0,
    ) -> None:
        self._replies = list(replies)
        self._by = by
        self.pace_s = pace_s
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []

    @property
    def api_base(self) -> str:
        return f"{self._serving.address}/v1"

    def _next(self, body: Mapping[str, Any]) -> Said:
        if self._by is not None:
            return self._by(body)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _handle(self, exchange: Exchange) -> None:
        body = exchange.body()
        self.bodies.append(body)
        self.keys.append(exchange.headers.get("Authorization", ""))
        said = self._next(body)
        time.sleep(self.pace_s)
        exchange.send_json(said.body(), said.status, said.headers)

    def __enter__(self) -> JudgeServer:
        self._serving = Serving(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()
