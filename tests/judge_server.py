"""A judge model of the tests' own on 127.0.0.1: OpenAI's route, exact replies, any status."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _next(self, body: Mapping[str, Any]) -> Said:
        if self._by is not None:
            return self._by(body)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def __enter__(self) -> JudgeServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.bodies.append(body)
                owner.keys.append(self.headers.get("Authorization", ""))
                said = owner._next(body)
                time.sleep(owner.pace_s)
                data = json.dumps(said.body()).encode()
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
