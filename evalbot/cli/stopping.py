"""Work that Ctrl-C and a polite kill stop in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any

import typer

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, and the terminal being closed."""


def run_until_stopped(work: Coroutine[Any, Any, bool]) -> bool | None:
    """The work's result; None where Ctrl-C or a polite kill stopped it first."""
    return asyncio.run(_until_stopped(work))


async def _until_stopped(work: Coroutine[Any, Any, bool]) -> bool | None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        if stopped:
            os._exit(130)
        stopped = True
        typer.echo("Stopping: recording what is there … (Ctrl-C again: at once)", err=True)
        task.cancel()

    for number in STOPS:
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        return None
    finally:
        for number in STOPS:
            loop.remove_signal_handler(number)
