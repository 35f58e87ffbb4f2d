"""The tables of speed: sweeps with their endpoints, samples and readings, and imported rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
)

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class SweepColumns(TypedColumns):
    """One sweep of speed, or one import of speed results. The lease columns as for runs."""

    id: Named[str] = Column(Text, primary_key=True)
    label: Named[str | None] = Column(Text)
    state: Named[str] = Column(String(16))
    plan: Named[Any | None] = Column(JSON(none_as_null=True))
    version: Named[str] = Column(String(32))
    import_key: Named[str | None] = Column(String(32), unique=True)
    started_at: Named[datetime] = Column(UtcTime)
    finished_at: Named[datetime | None] = Column(UtcTime)
    lease_token: Named[str | None] = Column(String(32))
    lease_holder: Named[Any | None] = Column(JSON)
    lease_until: Named[datetime | None] = Column(UtcTime)


sweep_table = Table(
    "speed_sweeps",
    metadata,
    SweepColumns,
)


class SweepEndpointColumns(TypedColumns):
    """An endpoint of a sweep, as in run_endpoints."""

    sweep: Named[str] = Column(Text, ForeignKey("speed_sweeps.id"), primary_key=True)
    name: Named[str] = Column(Text, primary_key=True)
    position: Named[int]
    settings: Named[Any] = Column(JSON)
    settings_fingerprint: Named[str] = Column(String(32))
    family: Named[str | None] = Column(Text)
    quantisation: Named[str | None] = Column(Text)
    hardware: Named[str | None] = Column(Text)
    model_id: Named[str | None] = Column(Text)
    model_fingerprint: Named[str | None] = Column(String(32))
    slots: Named[int | None]
    slot_context: Named[int | None]
    concurrency: Named[int | None]
    stopped_reason: Named[str | None] = Column(Text)


sweep_endpoint_table = Table(
    "speed_endpoints",
    metadata,
    SweepEndpointColumns,
)


class SampleColumns(TypedColumns):
    """One stream of one round of a sweep; the rounds of a sweep are recorded whole."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    sweep: Named[str] = Column(Text)
    endpoint: Named[str] = Column(Text)
    context: Named[int]
    concurrency: Named[int]
    repeat: Named[int]
    stream: Named[int]
    status: Named[str] = Column(String(24))
    error_detail: Named[str | None] = Column(Text)
    prompt_tokens: Named[int | None]
    cached_tokens: Named[int | None]
    completion_tokens: Named[int | None]
    offset_ms: Named[float]
    ttfr_ms: Named[float | None]
    ttft_ms: Named[float | None]
    ttfot_ms: Named[float | None]
    total_ms: Named[float | None]
    prefill_tps: Named[float | None]
    decode_tps: Named[float | None]
    stream_tps: Named[float | None]
    timing_source: Named[str] = Column(String(8))
    started_at: Named[datetime] = Column(UtcTime)


sample_table = Table(
    "speed_samples",
    metadata,
    SampleColumns,
    UniqueConstraint("sweep", "endpoint", "context", "concurrency", "repeat", "stream"),
    ForeignKeyConstraint(["sweep", "endpoint"], ["speed_endpoints.sweep", "speed_endpoints.name"]),
)


class ReadingColumns(TypedColumns):
    """What a telemetry command told at some moment of a sweep, or why it told nothing."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    sweep: Named[str] = Column(Text)
    endpoint: Named[str] = Column(Text)
    moment: Named[str] = Column(String(12))
    context: Named[int | None]
    concurrency: Named[int | None]
    repeat: Named[int | None]
    devices: Named[Any] = Column(JSON)
    problem: Named[str | None] = Column(Text)
    at: Named[datetime] = Column(UtcTime)


reading_table = Table(
    "speed_readings",
    metadata,
    ReadingColumns,
    ForeignKeyConstraint(["sweep", "endpoint"], ["speed_endpoints.sweep", "speed_endpoints.name"]),
    Index("ix_speed_readings_sweep", "sweep"),
)


class SpeedRowColumns(TypedColumns):
    """A row of an import as it was read; what is made of it is computed when it is shown."""

    sweep: Named[str] = Column(Text, ForeignKey("speed_sweeps.id"), primary_key=True)
    position: Named[int] = Column(primary_key=True)
    body: Named[Any] = Column(JSON)


speed_row_table = Table(
    "speed_rows",
    metadata,
    SpeedRowColumns,
)
