"""Sweeps in the record: made, found, taken up again, and what they measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from evalbot.domain.answers import AnswerStatus, Timing, Usage
from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.speed import DeviceMemory, SpeedRow, SpeedSource, SpeedStatus
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample, Sweep, SweepPlan
from evalbot.errors import InputError, NotFoundError
from evalbot.store.speed_schema import (
    reading_table,
    sample_table,
    speed_row_table,
    sweep_endpoint_table,
    sweep_table,
)

USAGE = tuple(field.name for field in fields(Usage))
TIMING = tuple(field.name for field in fields(Timing) if field.name != "source")


def create_sweep(connection: Connection, sweep: Sweep) -> None:
    """Write a new sweep with its endpoints, or an import with its rows."""
    connection.execute(
        insert(sweep_table).values(
            id=sweep.id,
            label=sweep.label,
            state=str(sweep.state),
            plan=None if sweep.plan is None else asdict(sweep.plan),
            version=sweep.version,
            import_key=sweep.import_key,
            started_at=sweep.started_at,
            finished_at=sweep.finished_at,
        )
    )
    if sweep.endpoints:
        connection.execute(
            insert(sweep_endpoint_table),
            [
                {**asdict(endpoint), "sweep": sweep.id, "position": position}
                for position, endpoint in enumerate(sweep.endpoints)
            ],
        )
    if sweep.rows:
        connection.execute(
            insert(speed_row_table),
            [
                {"sweep": sweep.id, "position": position, "body": asdict(row)}
                for position, row in enumerate(sweep.rows)
            ],
        )


def set_state(
    connection: Connection, sweep: str, state: RunState, finished_at: datetime | None = None
) -> None:
    """Write how far a sweep has come."""
    connection.execute(
        update(sweep_table)
        .where(sweep_table.c.id == sweep)
        .values(state=str(state), finished_at=finished_at)
    )


def update_endpoint(connection: Connection, sweep: str, endpoint: RunEndpoint) -> None:
    """Write what has been learned of an endpoint: model, slots, why it was stopped."""
    table = sweep_endpoint_table
    connection.execute(
        update(table)
        .where(table.c.sweep == sweep, table.c.name == endpoint.name)
        .values(**asdict(endpoint))
    )


def get_sweep(connection: Connection, sweep_id: str) -> Sweep:
    """A sweep by its id or the beginning of one, with endpoints and imported rows.

    NotFoundError where there is none, InputError where a beginning fits several.
    """
    return _sweep(connection, _find(connection, sweep_id))


def list_sweeps(connection: Connection) -> list[Sweep]:
    """All sweeps and imports, oldest first."""
    rows = connection.execute(
        select(sweep_table).order_by(sweep_table.c.started_at, sweep_table.c.id)
    )
    return [_sweep(connection, row) for row in rows.all()]


def sweep_imported_as(connection: Connection, import_key: str) -> str | None:
    """The sweep that this import made, if it came in before."""
    return connection.execute(
        select(sweep_table.c.id).where(sweep_table.c.import_key == import_key)
    ).scalar_one_or_none()


def add_round(connection: Connection, sweep: str, round_: Round, samples: Sequence[Sample]) -> None:
    """Write all streams of one round."""
    connection.execute(
        insert(sample_table),
        [
            {
                "sweep": sweep,
                **round_._asdict(),
                "stream": sample.stream,
                "status": str(sample.status),
                "error_detail": sample.error_detail,
                **{name: getattr(sample.usage, name) for name in USAGE},
                "offset_ms": sample.offset_ms,
                **{name: getattr(sample.timing, name) for name in TIMING},
                "stream_tps": sample.stream_tps,
                "timing_source": sample.timing.source,
                "started_at": sample.started_at,
            }
            for sample in samples
        ],
    )


def rounds_measured(connection: Connection, sweep: str) -> set[Round]:
    """The rounds that are in the record."""
    c = sample_table.c
    rows = connection.execute(
        select(c.endpoint, c.context, c.concurrency, c.repeat).where(c.sweep == sweep).distinct()
    )
    return {Round(*row) for row in rows}


def get_samples(connection: Connection, sweep: str) -> dict[Round, list[Sample]]:
    """Everything a sweep has measured, round by round."""
    rounds: dict[Round, list[Sample]] = {}
    rows = connection.execute(
        select(sample_table).where(sample_table.c.sweep == sweep).order_by(sample_table.c.id)
    ).mappings()
    for row in rows:
        round_ = Round(*(row[name] for name in Round._fields))
        rounds.setdefault(round_, []).append(
            Sample(
                stream=row["stream"],
                status=AnswerStatus(row["status"]),
                started_at=row["started_at"],
                offset_ms=row["offset_ms"],
                error_detail=row["error_detail"],
                usage=Usage(**{name: row[name] for name in USAGE}),
                timing=Timing(**{name: row[name] for name in TIMING}, source=row["timing_source"]),
                stream_tps=row["stream_tps"],
            )
        )
    return rounds


def add_reading(connection: Connection, sweep: str, reading: MemoryReading) -> None:
    """Write what a telemetry command told."""
    at_round = reading.round
    connection.execute(
        insert(reading_table).values(
            sweep=sweep,
            endpoint=reading.endpoint,
            moment=str(reading.moment),
            context=None if at_round is None else at_round.context,
            concurrency=None if at_round is None else at_round.concurrency,
            repeat=None if at_round is None else at_round.repeat,
            devices=[list(device) for device in reading.devices],
            problem=reading.problem,
            at=reading.at,
        )
    )


def get_readings(connection: Connection, sweep: str) -> list[MemoryReading]:
    """What the telemetry commands of a sweep told, in their order."""
    rows = connection.execute(
        select(reading_table).where(reading_table.c.sweep == sweep).order_by(reading_table.c.id)
    )
    return [
        MemoryReading(
            endpoint=row.endpoint,
            moment=Moment(row.moment),
            at=row.at,
            devices=tuple(DeviceMemory(*device) for device in row.devices),
            problem=row.problem,
            round=None
            if row.context is None
            else Round(row.endpoint, row.context, row.concurrency, row.repeat),
        )
        for row in rows
    ]


def _sweep(connection: Connection, row: Row[Any]) -> Sweep:
    return Sweep(
        id=row.id,
        state=RunState(row.state),
        started_at=row.started_at,
        label=row.label,
        plan=None if row.plan is None else _plan(row.plan),
        finished_at=row.finished_at,
        endpoints=_endpoints(connection, row.id),
        rows=_rows(connection, row.id),
        version=row.version,
        import_key=row.import_key,
    )


def _plan(value: Mapping[str, Any]) -> SweepPlan:
    lists = {name: tuple(value[name]) for name in ("contexts", "concurrency")}
    return SweepPlan(**{**value, **lists})


def _endpoints(connection: Connection, sweep: str) -> tuple[RunEndpoint, ...]:
    rows = connection.execute(
        select(sweep_endpoint_table)
        .where(sweep_endpoint_table.c.sweep == sweep)
        .order_by(sweep_endpoint_table.c.position)
    ).mappings()
    names = [field.name for field in fields(RunEndpoint)]
    return tuple(RunEndpoint(**{name: row[name] for name in names}) for row in rows)


def _rows(connection: Connection, sweep: str) -> tuple[SpeedRow, ...]:
    bodies = connection.execute(
        select(speed_row_table.c.body)
        .where(speed_row_table.c.sweep == sweep)
        .order_by(speed_row_table.c.position)
    ).scalars()
    return tuple(
        SpeedRow(
            **{
                **body,
                "source": SpeedSource(body["source"]),
                "status": SpeedStatus(body["status"]),
            }
        )
        for body in bodies
    )


def _find(connection: Connection, sweep_id: str) -> Row[Any]:
    rows = connection.execute(
        select(sweep_table)
        .where(sweep_table.c.id.startswith(sweep_id, autoescape=True))
        .order_by(sweep_table.c.id)
        .limit(10)
    ).all()
    exact = [row for row in rows if row.id == sweep_id]
    if len(exact) == 1 or (len(rows) == 1 and sweep_id):
        return (exact or rows)[0]
    if len(rows) > 1:
        names = ", ".join(row.id for row in rows)
        raise InputError(f"sweep {sweep_id!r} fits several sweeps: {names}; type one whole")
    raise NotFoundError(f"there is no sweep {sweep_id!r}; `evalbot speeds` shows them all")
