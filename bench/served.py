"""`evalbot serve` in a process of its own, and a browser that is signed in there."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.site import EVALBOT
from evalbot.reviewing.signing_in import sign_in
from evalbot.store.database import Database

PASSWORD = "a long enough one"


@dataclass(frozen=True)
class Served:
    """The server in a process of its own; seconds until it answered."""

    port: int
    seconds: float


def open_page(browser: Browser, database: Database, served: Served, name: str, path: str) -> Page:
    """A page of this user's in a browser."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    url = f"http://127.0.0.1:{served.port}"
    cookie = {
        "name": f"evalbot_session_{served.port}",
        "value": sign_in(database, name, PASSWORD),
        "url": url,
    }
    context.add_cookies([cookie])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(f"{url}{path}")
    return page


@contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """Serve the record of this folder until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    server = subprocess.Popen(
        [*EVALBOT, "serve", "--port", str(port)], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        _until(lambda: _answers(port))
        yield Served(port, time.perf_counter() - began)
    finally:
        server.terminate()
        server.communicate()


def _answers(port: int) -> bool:
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/sign-in")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)
