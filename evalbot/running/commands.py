"""Start and stop commands of endpoints: argument lists, never a shell line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.request import without_key
from evalbot.errors import EndpointError
from evalbot.formats.received import shorten

LONGEST_STOP_S = 60.0
LONGEST_FAREWELL_S = 10.0
LAST_LINES = 5
LAST_BYTES = 4096


class ServerProcess:
    """What a start command began: a server in the foreground, or a script that has ended."""

    def __init__(self, settings: EndpointSettings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._begun = not settings.start
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()

    async def start(self) -> None:
        """Run the start command, if there is one; EndpointError where it cannot be run."""
        self._begun = True
        if self._settings.start:
            self._process = await self._spawn(self._settings.start)

    async def watch(self) -> None:
        """Waits for ever; raises EndpointError when the start command ends with an error."""
        if self._process is not None and await self._process.wait() != 0:
            raise EndpointError(
                f"endpoint {self._settings.name}: its start command ended with code "
                f"{self._process.returncode}: {self._last_words()}"
            )
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Run the stop command, then end what the start command left running in front.

        What was never started is not stopped either: it would be somebody else's server.
        Raises EndpointError where the stop command fails.
        """
        try:
            if self._settings.stop and self._begun:
                await self._run_stop_command()
        finally:
            if self._process is not None:
                await _end(self._process)
            self._log.close()

    async def _run_stop_command(self) -> None:
        stopping = await self._spawn(self._settings.stop)
        try:
            async with asyncio.timeout(LONGEST_STOP_S):
                code = await stopping.wait()
        except TimeoutError:
            _signal(stopping, signal.SIGKILL)
            code = await stopping.wait()
        if code != 0:
            raise EndpointError(
                f"endpoint {self._settings.name}: its stop command ended with code {code}: "
                f"{self._last_words()}"
            )

    async def _spawn(self, command: Sequence[str]) -> asyncio.subprocess.Process:
        try:
            # A session of its own: Ctrl-C reaches evalbot, which then stops it in order.
            return await asyncio.create_subprocess_exec(
                *command,
                cwd=self._folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
        except OSError as error:
            raise EndpointError(
                f"endpoint {self._settings.name}: {command[0]} could not be run ({error})"
            ) from error

    def _last_words(self) -> str:
        # Read without moving the place where the command, which has the same file, writes.
        handle = self._log.fileno()
        end = os.pread(handle, LAST_BYTES, max(0, os.fstat(handle).st_size - LAST_BYTES))
        lines = end.decode("utf-8", "replace").strip().splitlines()
        words = without_key(" / ".join(lines[-LAST_LINES:]), self._settings)
        return shorten(words) or "it said nothing"


async def _end(process: asyncio.subprocess.Process) -> None:
    _signal(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(LONGEST_FAREWELL_S):
            await process.wait()
    except TimeoutError:
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
