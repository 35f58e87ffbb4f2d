"""Sweeps, samples and rows as values, for what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalbot.domain.answers import AnswerStatus, Timing, Usage
from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.speed import SpeedRow, SpeedSource
from evalbot.domain.sweeps import Round, Sample, Sweep, SweepPlan
from evalbot.fingerprint import fingerprint
from tests.building import START

PLAN = SweepPlan((512,), (1, 2, 4), 128, 3)


def a_sweep(*endpoints: str | RunEndpoint, plan: SweepPlan = PLAN, **fields: Any) -> Sweep:
    """A finished sweep of these endpoints; each has four slots of 8192 tokens."""
    made = tuple(
        RunEndpoint(one, {}, fingerprint(one), hardware="pc", slots=4, slot_context=8192)
        if isinstance(one, str)
        else one
        for one in endpoints
    )
    usual = {"id": "speed-1", "state": RunState.FINISHED, "started_at": START, "label": None}
    return Sweep(**{**usual, "plan": plan, "endpoints": made, **fields})


def a_stream(
    start: float = 0.0,
    end: float = 1.0,
    tokens: int | None = 128,
    *,
    prompt: int | None = 512,
    cached: int | None = 0,
    stream: int = 1,
    status: AnswerStatus = AnswerStatus.TRUNCATED,
    detail: str | None = None,
    ttft: float | None = None,
    tps: float | None = None,
    **timing: Any,
) -> Sample:
    """One stream of a round, its times in seconds since the round began."""
    first = None if ttft is None else 1000 * ttft
    times = {"ttfr_ms": first, "ttft_ms": first, "ttfot_ms": first, "source": "server", **timing}
    return Sample(
        stream=stream,
        status=status,
        started_at=START,
        offset_ms=1000 * start,
        error_detail=detail,
        usage=Usage(prompt, cached, tokens),
        timing=Timing(total_ms=1000 * (end - start), **times),
        stream_tps=tps,
    )


def rounds_of(*repeats: Sequence[Sample], endpoint: str = "m", context: int = 512,
              ) -> dict[Round, Sequence[Sample]]:  # fmt: skip
    """All repeats of one cell."""
    return {
        Round(endpoint, context, len(samples), repeat): samples
        for repeat, samples in enumerate(repeats, start=1)
    }


def a_row(concurrency: int | None = 1, **fields: Any) -> SpeedRow:
    """A typed-in row of a series: the same model, machine and prompt length."""
    usual = {"model": "m", "hardware": "pc", "source": SpeedSource.TABLE, "context_label": "5K"}
    return SpeedRow(**{**usual, "concurrency": concurrency, **fields})
