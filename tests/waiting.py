"""Waiting for what happens in another thread or process, however fast the machine is."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

LONGEST_S = 60.0
PAUSE_S = 0.005


async def until(condition: Callable[[], object]) -> None:
    """Until it holds, while the event loop goes on."""
    async with asyncio.timeout(LONGEST_S):
        while not condition():  # noqa: ASYNC110 - other threads have no asyncio.Event to give
            await asyncio.sleep(PAUSE_S)


def wait_until(condition: Callable[[], object]) -> None:
    """The same without an event loop."""
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(PAUSE_S)


def is_listening(port: int) -> bool:
    """Whether something takes connections on this port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
