"""Sweeps: endpoints × prompt lengths × concurrency × repeats, measured request by request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from evalbot.domain.answers import AnswerStatus, Timing, Usage
from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.speed import DeviceMemory, SpeedRow


class Round(NamedTuple):
    """Some streams sent to one endpoint at once; context is the prompt's length in tokens."""

    endpoint: str
    context: int
    concurrency: int
    repeat: int


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep measures; each of its streams writes output_tokens."""

    contexts: tuple[int, ...]
    concurrency: tuple[int, ...]
    output_tokens: int
    repeats: int
    parallel_endpoints: bool = False

    def rounds(self, endpoint: str) -> Iterator[Round]:
        """All rounds of one endpoint, from the lightest to the heaviest.

        Each once before any a second time, so that a sweep cut short is still even.
        """
        for repeat in range(1, self.repeats + 1):
            for context in self.contexts:
                for concurrency in self.concurrency:
                    yield Round(endpoint, context, concurrency, repeat)


@dataclass(frozen=True, slots=True)
class Sample:
    """One stream of a round.

    offset_ms: when it was sent, since the round began. stream_tps: tokens per second after
    the first token by our own clock, whatever timing.source is.
    """

    stream: int
    status: AnswerStatus
    started_at: datetime
    offset_ms: float = 0.0
    error_detail: str | None = None
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)
    stream_tps: float | None = None


class Moment(StrEnum):
    """When the memory was read: before a start command, before and after the rounds, or during."""

    UNLOADED = "unloaded"
    BEFORE = "before"
    DURING = "during"
    AFTER = "after"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """What a telemetry command told, or why it told nothing; round: during which one."""

    endpoint: str
    moment: Moment
    at: datetime
    devices: tuple[DeviceMemory, ...] = ()
    problem: str | None = None
    round: Round | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep as recorded, or the rows of an import (plan is then None)."""

    id: str
    state: RunState
    started_at: datetime
    label: str | None = None
    plan: SweepPlan | None = None
    finished_at: datetime | None = None
    endpoints: tuple[RunEndpoint, ...] = ()
    rows: tuple[SpeedRow, ...] = ()
    version: str = ""
    import_key: str | None = None
