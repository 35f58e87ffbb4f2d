"""A server of message batches of the tests' own on 127.0.0.1, as Anthropic's API has them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = Mapping[str, Any]
Reply = Callable[[Body], Body]


def succeeded(text: str, stop: str = "end_turn", cached: int = 0) -> Body:
    """A result with a message."""
    return {
        "type": "succeeded",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "judge",
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 100,
                "output_tokens": 20,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": cached,
            },
        },
    }


def errored(words: str) -> Body:
    """A result that is an error of the request."""
    error = {"type": "invalid_request_error", "message": words}
    return {"type": "errored", "error": {"type": "error", "error": error, "request_id": "r"}}


@dataclass
class SentBatch:
    """A batch that the server has."""

    id: str
    requests: list[Body]
    created_at: datetime
    is_ended: bool


@dataclass
class BatchServer:
    """Serves while in its `with` block. reply: what becomes of a request.

    ends: whether batches end at once. loses: creating works, but its reply is lost. forgets:
    what is answered by 404.
    """

    reply: Reply = field(default=lambda _: succeeded('{"reason":"r","verdict":"correct"}'))
    ends: bool = True
    loses: int = 0
    refuses: int = 0
    forgets: str = ""
    batches: list[SentBatch] = field(default_factory=list)
    looks: int = 0

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def asked(self) -> list[Body]:
        """All requests of all batches."""
        return [one for batch in self.batches for one in batch.requests]

    def end_all(self) -> None:
        """Let all batches end."""
        for batch in self.batches:
            batch.is_ended = True

    def put_foreign(self, size: int, at: datetime | None = None) -> None:
        """Somebody else's batch."""
        requests = [{"custom_id": f"other-{n}", "params": {}} for n in range(size)]
        created = at or datetime.now(UTC)
        self.batches.append(SentBatch(f"msgbatch_x{len(self.batches)}", requests, created, True))

    def __enter__(self) -> BatchServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if owner.refuses:
                    owner.refuses -= 1
                    error = {"type": "invalid_request_error", "message": "no batches today"}
                    self._send({"type": "error", "error": error}, 400)
                    return
                batch = SentBatch(
                    f"msgbatch_{len(owner.batches)}",
                    body["requests"],
                    datetime.now(UTC),
                    owner.ends,
                )
                owner.batches.append(batch)
                if owner.loses:
                    owner.loses -= 1
                    self.close_connection = True
                    self.connection.close()
                    return
                self._send(owner._told(batch))

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path.endswith("/batches"):
                    newest = [owner._told(batch) for batch in reversed(owner.batches)]
                    self._send({"data": newest, "has_more": False, "first_id": None,
                                "last_id": None})  # fmt: skip
                    return
                found = re.search(r"/batches/(msgbatch_\w+?)(/results)?$", path)
                assert found, path
                if owner.forgets == ("fetched" if found[2] else "looked for"):
                    error = {"type": "not_found_error", "message": "no such batch"}
                    self._send({"type": "error", "error": error}, 404)
                    return
                batch = next(one for one in owner.batches if one.id == found[1])
                if found[2]:
                    lines = [
                        json.dumps({"custom_id": one["custom_id"], "result": owner.reply(one)})
                        for one in reversed(batch.requests)
                    ]
                    self._send_bytes(("\n".join(lines) + "\n").encode(), "application/x-jsonl")
                    return
                owner.looks += 1
                self._send(owner._told(batch))

            def _send(self, value: Body, status: int = 200) -> None:
                self._send_bytes(json.dumps(value).encode(), "application/json", status)

            def _send_bytes(self, data: bytes, kind: str, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
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

    def _told(self, batch: SentBatch) -> Body:
        done = len(batch.requests) if batch.is_ended else 0
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.is_ended else "in_progress",
            "request_counts": {
                "processing": len(batch.requests) - done,
                "succeeded": done,
                "errored": 0,
                "canceled": 0,
                "expired": 0,
            },
            "ended_at": batch.created_at.isoformat() if batch.is_ended else None,
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + timedelta(days=1)).isoformat(),
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.api_base}/v1/messages/batches/{batch.id}/results",
        }
