"""What the memory readings of a sweep say about how its models lay in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evalbot.domain.speed import DeviceMemory
from evalbot.domain.sweeps import MemoryReading, Moment
from evalbot.stats.rounding import half_up

FULL = 0.9
MOSTLY_IDLE = 0.25
"""Shares of a device's memory between which a split is lopsided."""

STILL_HELD_MIB = 1024.0
"""More than a desktop needs: what somebody else, or an earlier model, holds."""

LOADED = (Moment.BEFORE, Moment.DURING, Moment.AFTER)


def memory_notes(readings: Sequence[MemoryReading]) -> list[str]:
    """Sentences on lopsided splits, memory held before or after, and commands that failed."""
    notes: list[str] = []
    for endpoint in dict.fromkeys(reading.endpoint for reading in readings):
        own = [reading for reading in readings if reading.endpoint == endpoint]
        said = [*_held(own), *_lopsided(own), *_problems(own)]
        notes += [f"{endpoint}: {note}" for note in dict.fromkeys(said)]
    return notes


def _held(readings: Iterable[MemoryReading]) -> Iterator[str]:
    """Memory in use while the model was not loaded."""
    words = {
        Moment.UNLOADED: "was in use before the model was loaded",
        Moment.STOPPED: "was still in use after the model was unloaded",
    }
    for reading in readings:
        for device in reading.devices:
            used = device.used_mib
            if reading.moment in words and used is not None and used >= STILL_HELD_MIB:
                yield f"{_mib(used)} on {_name(device)} {words[reading.moment]}"


def _lopsided(readings: Iterable[MemoryReading]) -> Iterator[str]:
    """One device full while another has room: often a split in another order than meant."""
    for reading in readings:
        if reading.moment not in LOADED:
            continue
        shares = [
            (device.used_mib / device.total_mib, device)
            for device in reading.devices
            if device.used_mib is not None and device.total_mib
        ]
        if len(shares) < 2:
            continue
        least, most = min(shares), max(shares)
        if most[0] >= FULL and least[0] <= MOSTLY_IDLE:
            yield (
                f"{_name(least[1])} was mostly idle ({_share(least[0])} of its memory used) while "
                f"{_name(most[1])} was full ({_share(most[0])}): is the order of the tensor split "
                "the order of the devices?"
            )
            return


def _problems(readings: Iterable[MemoryReading]) -> Iterator[str]:
    for reading in readings:
        if reading.problem is not None:
            yield f"memory is not known: {reading.problem}"
        elif reading.devices and all(one.used_mib is None for one in reading.devices):
            yield "memory is not known: the telemetry command names devices without their use"


def _name(device: DeviceMemory) -> str:
    return f"device {device.device}" + (f" ({device.name})" if device.name else "")


def _mib(value: float) -> str:
    return f"{half_up(value, 0)} MiB"


def _share(value: float) -> str:
    return f"{half_up(100 * value, 0)} %"
