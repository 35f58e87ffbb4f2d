"""GPU memory while a sweep runs, by the telemetry command of the hardware."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.speed import DeviceMemory
from evalbot.domain.sweeps import MemoryReading, Moment, Round
from evalbot.endpoints.words import shorten
from evalbot.errors import EvalbotError, InputError
from evalbot.formats.gpu_memory import read_gpu_memory

LONGEST_READING_S = 10.0
PAUSE_S = 5.0
"""Between two readings of one round."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Reads one endpoint's hardware and hands over what it told; failures are told, not raised."""

    endpoint: str
    command: tuple[str, ...]
    folder: Path
    keep: Callable[[MemoryReading], Awaitable[None]]

    async def read(self, moment: Moment, round_: Round | None = None) -> None:
        """Read once."""
        if self.command:
            await self.keep(await self._reading(moment, round_))

    @asynccontextmanager
    async def during(self, round_: Round) -> AsyncIterator[None]:
        """Read at least once while the block runs, and keep the most memory that was seen."""
        if not self.command:
            yield
            return
        ended = asyncio.Event()
        watching = asyncio.create_task(self._watch(round_, ended))
        try:
            yield
            ended.set()
            await self.keep(_most(await watching))
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
            problem = shorten(f"telemetry: {error}")
        return MemoryReading(self.endpoint, moment, datetime.now(UTC), devices, problem, round_)


async def _output_of(command: Sequence[str], folder: Path) -> str:
    """What the command prints. InputError where it cannot be run, fails or hangs."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        words = error.strerror or str(error)
        raise InputError(f"{command[0]} could not be run ({words})") from error
    try:
        async with asyncio.timeout(LONGEST_READING_S):
            output, complaints = await process.communicate()
    except TimeoutError as error:
        raise InputError(f"{command[0]} told nothing for {LONGEST_READING_S:g} s") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        words = (complaints or output).decode("utf-8", "replace")
        raise InputError(f"{command[0]} ended with code {process.returncode}: {words.strip()}")
    return output.decode("utf-8", "replace")


def _most(readings: Sequence[MemoryReading]) -> MemoryReading:
    """One reading of several: per device the most that was in use."""
    told = [reading for reading in readings if reading.problem is None]
    if not told:
        return readings[0]
    most: dict[str, DeviceMemory] = {}
    for reading in told:
        for device in reading.devices:
            before = most.get(device.device)
            if before is None or (device.used_mib or 0) > (before.used_mib or 0):
                most[device.device] = device
    return replace(told[0], devices=tuple(most.values()))
