"""A server of message batches of the tests' own on 127.0.0.1, as Anthropic's API has them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.serving import Exchange, Serving

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
    error = _error("invalid_request_error", words)
    return {"type": "errored", "error": {**error, "request_id": "r"}}


def _error(kind: str, words: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": words}}


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
        return self._serving.address

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
        self._serving = Serving(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()

    def _handle(self, exchange: Exchange) -> None:
        if exchange.command == "POST":
            self._create(exchange)
            return
        path = exchange.path.partition("?")[0]
        if path.endswith("/batches"):
            newest = [self._told(batch) for batch in reversed(self.batches)]
            page = {"data": newest, "has_more": False, "first_id": None, "last_id": None}
            exchange.send_json(page)
            return
        found = re.search(r"/batches/(msgbatch_\w+?)(/results)?$", path)
        assert found, path
        if self.forgets == ("fetched" if found[2] else "looked for"):
            exchange.send_json(_error("not_found_error", "no such batch"), 404)
            return
        batch = next(one for one in self.batches if one.id == found[1])
        if found[2]:
            lines = [
                json.dumps({"custom_id": one["custom_id"], "result": self.reply(one)})
                for one in reversed(batch.requests)
            ]
            exchange.send_data(("\n".join(lines) + "\n").encode(), "application/x-jsonl")
            return
        self.looks += 1
        exchange.send_json(self._told(batch))

    def _create(self, exchange: Exchange) -> None:
        requests = exchange.body()["requests"]
        if self.refuses:
            self.refuses -= 1
            exchange.send_json(_error("invalid_request_error", "no batches today"), 400)
            return
        name = f"msgbatch_{len(self.batches)}"
        batch = SentBatch(name, requests, datetime.now(UTC), self.ends)
        self.batches.append(batch)
        if self.loses:
            self.loses -= 1
            exchange.close_connection = True
            exchange.connection.close()
            return
        exchange.send_json(self._told(batch))

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
