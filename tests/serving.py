"""HTTP servers of the tests' own on 127.0.0.1, one thread a request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Exchange(BaseHTTPRequestHandler):
    """One request, as the server of a test handles it."""

    def body(self) -> dict[str, Any]:
        """The request's JSON."""
        found: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return found

    def send_json(
        self, value: object, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Reply with JSON."""
        self.send_data(json.dumps(value).encode(), "application/json", status, headers)

    def send_data(
        self,
        data: bytes,
        kind: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Reply with bytes."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


class Serving:
    """Serves from its making until it is closed."""

    def __init__(self, handle: Callable[[Exchange], None]) -> None:
        class Handler(Exchange):
            def do_POST(self) -> None:
                handle(self)

            def do_GET(self) -> None:
                handle(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
