"""The real web server, in this process, and a real browser to look at it with."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalbot.reviewing.signing_in import sign_in
from evalbot.store.database import Database
from evalbot.ui.address import checked_address
from evalbot.ui.server import Server, build_server
from tests.people import PASSWORD, add_people
from tests.waiting import is_listening, wait_until

__all__ = [
    "CHROMIUM_FLAGS",
    "PASSWORD",
    "PATIENCE_MS",
    "Sent",
    "Site",
    "add_people",
    "chromium",
    "served",
    "served_by_command",
]

PATIENCE_S = 60
PATIENCE_MS = PATIENCE_S * 1000
"""How long pages and servers may take: a busy machine is slow, and not wrong."""

CHROMIUM_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str | None:
    """The machine's own Chromium; None where Playwright's is to be used."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


@dataclass(frozen=True)
class Site:
    """A server that runs; server: what it is made of, where it runs in this process."""

    url: str
    database: Database
    server: Server | None = None

    def cookie(self, name: str) -> dict[str, str]:
        """A signed-in user's cookie, as Playwright wants it."""
        token = sign_in(self.database, name, PASSWORD)
        port = self.url.rpartition(":")[2]
        return {"name": f"evalbot_session_{port}", "value": token, "url": self.url}

    def client(self, name: str | None = None, **headers: str) -> httpx.Client:
        """A program that speaks with it, signed in where a name is given."""
        cookies = {}
        if name is not None:
            cookie = self.cookie(name)
            cookies = {cookie["name"]: cookie["value"]}
        return httpx.Client(base_url=self.url, cookies=cookies, headers=headers, timeout=PATIENCE_S)


@contextmanager
def served_by_command(database: Database, folder: Path) -> Iterator[Site]:
    """The same by `evalbot serve` in a process of its own, over the database of this folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "evalbot.cli.main", "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr.readline, "")
            assert any(line.startswith("open http") for line in lines)
            wait_until(lambda: is_listening(port))
            yield Site(f"http://127.0.0.1:{port}", database)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


class Sent:
    """All that a server sends, uncompressed as it leaves; wraps its app."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def __call__(self, app: ASGIApp) -> ASGIApp:
        async def recording(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_and_note(message: Message) -> None:
                self._parts.append(repr(message.get("headers", "")).encode())
                self._parts.append(message.get("body", b""))
                await send(message)

            headers = [one for one in scope.get("headers", ()) if one[0] != b"accept-encoding"]
            await app({**scope, "headers": headers}, receive, send_and_note)

        return recording

    def forget(self) -> None:
        """Begin anew."""
        self._parts.clear()

    def text(self) -> str:
        """What was sent since then."""
        return b"".join(self._parts).decode("utf-8", "replace")


@contextmanager
def served(
    database: Database, folder: Path, wrapped: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> Iterator[Site]:
    """Serve over this database on a free port of 127.0.0.1 until the block ends.

    wrapped: what is put around the app.
    """
    with socket.socket(proto=socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        config = folder / "evalbot.yaml"
        address = checked_address("127.0.0.1", port, None, ())
        server = build_server(database, config if config.is_file() else None, folder, address)
        running = uvicorn.Server(
            uvicorn.Config(
                wrapped(server.app), log_level="error", ws="none", timeout_graceful_shutdown=2
            )
        )
        thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            wait_until(lambda: running.started)
            yield Site(f"http://127.0.0.1:{port}", database, server)
        finally:
            running.should_exit = True
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
