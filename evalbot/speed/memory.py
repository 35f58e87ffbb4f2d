"""GPU memory while a sweep runs, by the telemetry command of the hardware."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.speed import DeviceMemory
from evalbot.domain.sweeps import MemoryReading, Moment, Round
from evalbot.errors import EvalbotError, InputError
from evalbot.formats.gpu_memory import read_gpu_memory
from evalbot.formats.received import shorten

LONGEST_READING_S = 10.0
LAST_WORDS_S = 0.5
LARGEST_OUTPUT = 256 * 1024
PAUSE_S = 5.0
"""Between two readings of one round."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Reads one endpoint's hardware and hands over what it told; failures are told, not raised.

    clean: takes secrets out of a command's words.
    """

    endpoint: str
    command: tuple[str, ...]
    folder: Path
    keep: Callable[[MemoryReading], Awaitable[None]]
    clean: Callable[[str], str] = str

    async def read(self, moment: Moment, round_: Round | None = None) -> None:
        """Read once."""
        if self.command:
            await self.keep(await self._reading(moment, round_))

    @asynccontextmanager
    async def during(self, round_: Round) -> AsyncIterator[None]:
        """Read at least once while the block runs, and keep the fullest reading."""
        if not self.command:
            yield
            return
        ended = asyncio.Event()
        watching = asyncio.create_task(self._watch(round_, ended))
        try:
            yield
            ended.set()
            await self.keep(_fullest(await watching))
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _watch(self, round_: Round, ended: asyncio.Event) -> list[MemoryReading]:
        readings = [await self._reading(Moment.DURING, round_)]
        while not ended.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_S):
                    await ended.wait()
            if not ended.is_set():
                readings.append(await self._reading(Moment.DURING, round_))
        return readings

    async def _reading(self, moment: Moment, round_: Round | None) -> MemoryReading:
        devices: tuple[DeviceMemory, ...] = ()
        problem = None
        try:
            devices = read_gpu_memory(await _output_of(self.command, self.folder))
        except EvalbotError as error:
            problem = shorten(self.clean(f"telemetry: {error}"))
        return MemoryReading(self.endpoint, moment, datetime.now(UTC), devices, problem, round_)


class _Output(asyncio.Protocol):
    """What comes out of a pipe; of more than the most that is wanted, only that it came."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        if len(self.data) <= LARGEST_OUTPUT:
            self.data += data

    def connection_lost(self, _: Exception | None) -> None:
        self.ended.set()


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[_Output, int]]:
    """A pipe of our own, and where to write into it.

    Waiting for a process that writes into one of asyncio's would be waiting for all that it
    leaves running, too.
    """
    reading, writing = os.pipe()
    loop = asyncio.get_running_loop()
    transport, output = await loop.connect_read_pipe(_Output, os.fdopen(reading, "rb", 0))
    try:
        yield output, writing
    finally:
        transport.close()


async def _output_of(command: Sequence[str], folder: Path) -> str:
    """What the command prints. InputError where it cannot be run, fails, hangs or rambles."""
    async with _pipe() as (printed, to_printed), _pipe() as (complaints, to_complaints):
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=to_printed,
                stderr=to_complaints,
                start_new_session=True,
            )
        except OSError as error:
            words = error.strerror or str(error)
            raise InputError(f"{command[0]} could not be run ({words})") from error
        finally:
            os.close(to_printed)
            os.close(to_complaints)
        try:
            async with asyncio.timeout(LONGEST_READING_S):
                await process.wait()
        except TimeoutError as error:
            raise InputError(f"{command[0]} did not end within {LONGEST_READING_S:g} s") from error
        finally:
            # With what it left running, which would hold its output open.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await printed.ended.wait()
                await complaints.ended.wait()
        if len(printed.data) > LARGEST_OUTPUT:
            raise InputError(f"{command[0]} printed more than {LARGEST_OUTPUT // 1024} KiB")
        if process.returncode != 0:
            words = (complaints.data or printed.data).decode("utf-8", "replace").strip()
            raise InputError(f"{command[0]} ended with code {process.returncode}: {words}")
        return printed.data.decode("utf-8", "replace")


def _fullest(readings: Sequence[MemoryReading]) -> MemoryReading:
    """Of several readings the one with the most memory in use, all devices together."""

    def used(reading: MemoryReading) -> float:
        return sum(device.used_mib or 0.0 for device in reading.devices)

    return max(readings, key=used)
