"""Speed results: what was measured, under which conditions, and what may be made of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class SpeedSource(StrEnum):
    """Who measured: our own sweeps, or the tool or table that a result was imported from."""

    EVALBOT = "evalbot"
    LLAMA_BENCH = "llama-bench"
    VLLM_BENCH = "vllm-bench"
    TABLE = "table"


class SpeedStatus(StrEnum):
    """Whether a row's figures may be used. Only OK rows enter means, lines and comparisons.

    cached: prompts came from a prompt cache. collapsed: out of line with its neighbours, and
    the figures tell how. suspect: out of line, and the cause cannot be told.
    """

    OK = "ok"
    CACHED = "cached"
    CONTEXT_OVERFLOW = "context_overflow"
    FAILED = "failed"
    COLLAPSED = "collapsed"
    SUSPECT = "suspect"
    OOM = "oom"
    DEVICE_LOST = "device_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedRow:
    """One line of the speed table; its fields are contract.md's columns of `speeds`.

    Times in milliseconds, wall_s in seconds, rates in tokens per second; None is unknown.
    context_label: the prompt's length as it was asked for or typed; context_tokens: as the
    server counted it, if it did. output_tokens: what a stream wrote. concurrency: streams
    offered at once. n: requests measured; errors: requests that failed. timing_source:
    server, client or both (`client+server`). The price columns are in the currency of the
    hardware's price. sweep: the sweep or import it is from.
    """

    label: str | None = None
    model: str
    hardware: str | None = None
    memory: str | None = None
    backend: str | None = None
    source: SpeedSource
    test: str | None = None
    context_label: str | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None
    concurrency: int | None = None
    slots: int | None = None
    slot_context: int | None = None
    n: int | None = None
    errors: int | None = None
    ttfr_ms_p50: float | None = None
    ttft_ms_p50: float | None = None
    ttft_ms_p90: float | None = None
    ttft_ms_mean: float | None = None
    ttfot_ms_p50: float | None = None
    ttfot_ms_p90: float | None = None
    prefill_tps_p50: float | None = None
    decode_tps_p50: float | None = None
    stream_tps_p50: float | None = None
    aggregate_tps: float | None = None
    wall_s: float | None = None
    status: SpeedStatus = SpeedStatus.OK
    evidence: str | None = None
    timing_source: str | None = None
    price: float | None = None
    tps_per_1000_price: float | None = None
    price_per_million_tokens: float | None = None
    tokens_per_joule: float | None = None
    memory_used_mib: float | None = None
    sweep: str | None = None


class DeviceMemory(NamedTuple):
    """One GPU's memory in MiB; None where the tool does not say."""

    device: str
    name: str | None
    used_mib: float | None
    total_mib: float | None
