"""Rows of evalbot's own `speeds` columns, typed in or written by evalbot."""

from __future__ import annotations

from typing import Any

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.fields import COUNT, COUNT_OR_ZERO, Bounds, Fields
from evalbot.formats.speed_outcomes import ABOUT, FIGURE, Measured, number, outcome_without_failure

TEXTS = (*("label", "hardware", "memory", "backend", "test", "context_label", "evidence", "sweep"),)
COUNTS: dict[str, Bounds] = {
    "context_tokens": COUNT_OR_ZERO,
    "output_tokens": COUNT_OR_ZERO,
    "concurrency": COUNT,
    "slots": COUNT,
    "slot_context": COUNT,
    "n": COUNT_OR_ZERO,
    "errors": COUNT_OR_ZERO,
}
FIGURES = (
    *("ttfr_ms_p50", "ttft_ms_p50", "ttft_ms_p90", "ttft_ms_mean"),
    *("ttfot_ms_p50", "ttfot_ms_p90", "prefill_tps_p50", "decode_tps_p50"),
    *("stream_tps_p50", "aggregate_tps", "wall_s"),
)
DERIVED = (
    *("price", "tps_per_1000_price", "price_per_million_tokens"),
    *("tokens_per_joule", "memory_used_mib"),
)
TIMING_SOURCES = ("server", "client", "client+server")


def read_speeds_row(fields: Fields) -> list[SpeedRow]:
    """The row of a line; without a status its figures decide, as in other tables."""
    values: dict[str, Any] = {name: fields.optional_text(name) for name in TEXTS}
    values |= {name: fields.integer(name, bounds) for name, bounds in COUNTS.items()}
    about = []
    written = []
    for name in (*FIGURES, *DERIVED):
        values[name], text = number(fields, name, FIGURE)
        if text and name in FIGURES:
            written.append(f"{name} {text}")
        if text and text.startswith(ABOUT):
            about.append(f"{name} {text}")
    if fields.has("timing_source"):
        values["timing_source"] = fields.choice("timing_source", TIMING_SOURCES)
    source = SpeedSource(fields.choice("source", tuple(SpeedSource), SpeedSource.TABLE))
    model = fields.model_name("model")
    if fields.has("status"):
        status = SpeedStatus(fields.choice("status", tuple(SpeedStatus)))
        told = f"about: {', '.join(about)}" if about else None
    else:
        figures = {name: values[name] for name in FIGURES if values[name] is not None}
        seen = Measured(figures, ", ".join(written), ", ".join(about))
        status, told, kept = outcome_without_failure(seen)
        values |= dict.fromkeys(FIGURES) | dict(kept)
    values["evidence"] = "; ".join(filter(None, (values["evidence"], told))) or None
    return [SpeedRow(model=model, source=source, status=status, **values)]
