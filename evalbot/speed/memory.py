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
from evalbot.endpoints.words import shorten
from evalbot.errors import EvalbotError, InputError
from evalbot.formats.gpu_memory import read_gpu_memory

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
    clean: Callable[[str], str]

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


async def _output_of(command: Sequence[str], folder: Path) -> str:
    """What the command prints. InputError where it cannot be run, fails, hangs or rambles."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        words = error.strerror or str(error)
        raise InputError(f"{command[0]} could not be run ({words})") from error
    assert process.stdout is not None
    printed = bytearray()
    reading = asyncio.create_task(_read_into(printed, process.stdout))
    try:
        async with asyncio.timeout(LONGEST_READING_S):
            await process.wait()
            # What it left running may hold its output open for ever.
            await asyncio.wait([reading], timeout=LAST_WORDS_S)
    except TimeoutError as error:
        raise InputError(f"{command[0]} did not end within {LONGEST_READING_S:g} s") from error
    finally:
        reading.cancel()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    words = printed[:LARGEST_OUTPUT].decode("utf-8", "replace")
    if len(printed) > LARGEST_OUTPUT:
        raise InputError(f"{command[0]} printed more than {LARGEST_OUTPUT // 1024} KiB")
    if process.returncode != 0:
        raise InputError(f"{command[0]} ended with code {process.returncode}: {words.strip()}")
    return words


async def _read_into(printed: bytearray, stream: asyncio.StreamReader) -> None:
    """All that comes; of more than the most that is wanted, only that it came."""
    while data := await stream.read(65_536):
        if len(printed) <= LARGEST_OUTPUT:
            printed += data


def _fullest(readings: Sequence[MemoryReading]) -> MemoryReading:
    """Of several readings the one with the most memory in use, all devices together."""

    def used(reading: MemoryReading) -> float:
        return sum(device.used_mib or 0.0 for device in reading.devices)

    return max(readings, key=used)
