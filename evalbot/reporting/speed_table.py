"""Speed as tables: every contract column for programs, fewer and plainer ones for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.formats.tables.table import shown
from evalbot.speed.cost import written_tps
from evalbot.stats.rounding import half_up

COUNT, NUMBER = Kind.COUNT, Kind.NUMBER

PEOPLE_COLUMNS = (
    Column("label", "label"),
    Column("sweep", "id"),
    Column("model", "model"),
    Column("hardware", "hardware"),
    Column("memory", "memory"),
    Column("backend", "backend"),
    Column("test", "test"),
    Column("context_label", "prompt"),
    Column("context_tokens", "prompt tokens", COUNT),
    Column("output_tokens", "written", COUNT),
    Column("concurrency", "streams", COUNT),
    Column("slots", "slots", COUNT),
    Column("slot_context", "context per slot", COUNT),
    Column("n", "n", COUNT),
    Column("errors", "errors", COUNT),
    Column("ttfr_ms_p50", "first reply ms", NUMBER, 0),
    Column("ttft_ms_p50", "first token ms", NUMBER, 0),
    Column("ttft_ms_p90", "p90", NUMBER, 0),
    Column("ttft_ms_mean", "mean first token ms", NUMBER, 0),
    Column("ttfot_ms_p50", "first text ms", NUMBER, 0),
    Column("ttfot_ms_p90", "p90", NUMBER, 0),
    Column("prefill_tps_p50", "prefill tok/s", NUMBER, 1),
    Column("decode_tps_p50", "decode tok/s", NUMBER, 1),
    Column("stream_tps_p50", "per stream tok/s", NUMBER, 1),
    Column("aggregate_tps", "all streams tok/s", NUMBER, 1),
    Column("wall_s", "wall s", NUMBER, 2),
    Column("memory_used_mib", "MiB, all devices", NUMBER, 0),
    Column("price", "price", NUMBER, 0),
    Column("tps_per_1000_price", "tok/s per 1,000", NUMBER, 2),
    Column("price_per_million_tokens", "price per M written", NUMBER, 2),
    Column("tokens_per_joule", "tokens/J", NUMBER, 3),
    Column("timing_source", "timed by"),
    Column("status", "status"),
)
ALWAYS = frozenset({"model", "status"})
MACHINE = ("hardware", "backend", "memory")
CONDITIONS = frozenset({"hardware", "memory", "backend", "output_tokens", "concurrency", "slots",
                        "slot_context", "n", "price", "timing_source"})  # fmt: skip
"""Columns that are told once below the table where all rows agree."""

SAME_AS_FIRST_TOKEN = {"ttfr_ms_p50": "first reply", "ttfot_ms_p50": "first text"}
"""Times that are those of the first token unless the server says something before it, or thinks."""

SAME_MS = 0.5
"""A smaller difference is not seen in whole milliseconds."""

SAME_RATE = 0.01
"""A stream's rate by our clock that is so near the decode rate says nothing more."""

FEWEST_FOR_P90 = 3
MOST_NAMES = 6
"""Rows that are named one by one beside the same evidence."""

TITLES = {
    SpeedSource.EVALBOT: "Speed measured by evalbot",
    SpeedSource.LLAMA_BENCH: "Speed imported from llama-bench",
    SpeedSource.VLLM_BENCH: "Speed imported from vLLM's benchmark",
    SpeedSource.TABLE: "Speed imported from tables",
}


def machine_table(rows: Sequence[SpeedRow]) -> Table:
    """contract.md's columns of `speeds`."""
    names = [field.name for field in fields(SpeedRow)]
    return Table(
        "Speed",
        tuple(Column(name, name) for name in names),
        tuple(tuple(getattr(row, name) for name in names) for row in rows),
    )


def people_tables(rows: Sequence[SpeedRow], notes: Sequence[str]) -> list[Table]:
    """A table for each source, without the columns that say nothing; evidence below it.

    notes: what is to be said of all rows, below the last table.
    """
    tables = [
        _people_table(source, [row for row in rows if row.source is source])
        for source in dict.fromkeys(row.source for row in rows)
    ]
    if not tables:
        tables = [Table("Speed", (Column("model", "model"),), ())]
    return [*tables[:-1], replace(tables[-1], notes=(*tables[-1].notes, *notes))]


def wide_table(rows: Sequence[SpeedRow], notes: Sequence[str]) -> Table:
    """Machines down, models and tests across; a cell is tokens per second, or what failed.

    Prefill for pp tests, decode for tg tests, else what is written (cost.written_tps). The
    newest result of a cell is shown.
    """
    columns: dict[tuple[str, str], None] = {}
    machines: dict[tuple[str | None, ...], dict[tuple[str, str], SpeedRow]] = {}
    older = 0
    for row in rows:
        across = (row.model, row.test or "")
        columns.setdefault(across)
        cells = machines.setdefault((row.hardware, row.backend, row.memory), {})
        older += across in cells
        cells[across] = row
    models = list(dict.fromkeys(model for model, _ in columns))
    ordered = sorted(columns, key=lambda across: models.index(across[0]))
    known = [at for at in range(len(MACHINE)) if at == 0 or any(one[at] for one in machines)]
    if older:
        notes = [*notes, f"older results of the same cells are not shown: {older}"]
    return Table(
        "Speed, tok/s: read in pp tests, else written",
        (
            *(Column(MACHINE[at], MACHINE[at]) for at in known),
            *(Column(name, name, NUMBER, 2) for name in (f"{m} {t}".strip() for m, t in ordered)),
        ),
        tuple(
            (*(machine[at] for at in known), *(_cell(cells.get(across)) for across in ordered))
            for machine, cells in machines.items()
        ),
        tuple(notes),
    )


def headline_tps(row: SpeedRow) -> float | None:
    """The one rate that stands for a row: prefill for pp tests, else what is written."""
    written = written_tps(row)
    return row.prefill_tps_p50 if written is None else written


def _cell(row: SpeedRow | None) -> Value:
    if row is None:
        return None
    tps = headline_tps(row)
    if row.status is SpeedStatus.OK:
        return tps
    return str(row.status) if tps is None else f"{half_up(tps, 2)} ({row.status})"


def _people_table(source: SpeedSource, rows: Sequence[SpeedRow]) -> Table:
    alike, repeated = _alike(rows), _repeated(rows)
    hidden = {*alike, *repeated, *_unneeded(source, rows, repeated)}
    columns = [
        column
        for column in PEOPLE_COLUMNS
        if column.name in ALWAYS
        or (column.name not in hidden and any(getattr(r, column.name) is not None for r in rows))
    ]
    return Table(
        _title(source, rows),
        tuple(columns),
        tuple(tuple(_value(row, column.name) for column in columns) for row in rows),
        (*_shared(source, alike, repeated), *_evidence(rows)),
    )


def _unneeded(
    source: SpeedSource, rows: Sequence[SpeedRow], repeated: Sequence[str]
) -> Iterable[str]:
    """Columns that would say nothing beside the others."""
    yield from (f"{name[:-2]}90" for name in repeated)
    if source is SpeedSource.EVALBOT:
        yield from ("test", "ttft_ms_mean")
        if all(row.context_tokens is None or _as_asked(row) for row in rows):
            yield "context_tokens"
    else:
        yield "context_label"  # the test says it
    labels = {row.label for row in rows}
    if len(labels) == 1:
        yield "label"
    if len({(row.label, row.sweep) for row in rows}) == len(labels):  # each has its own
        yield "sweep"
    if not any(row.errors for row in rows):
        yield "errors"
    if all(row.n is not None and row.n < FEWEST_FOR_P90 for row in rows):
        yield from ("ttft_ms_p90", "ttfot_ms_p90")
    pairs = [(row.stream_tps_p50, row.decode_tps_p50) for row in rows]
    if all(a is None or (b is not None and abs(a - b) <= SAME_RATE * b) for a, b in pairs):
        yield "stream_tps_p50"


def _as_asked(row: SpeedRow) -> bool:
    return row.context_label is not None and str(row.context_tokens) == row.context_label


def _alike(rows: Sequence[SpeedRow]) -> dict[str, str]:
    """Conditions that are the same in all rows, in words; rows that failed need not know them."""
    alike = {}
    for column in PEOPLE_COLUMNS:
        values = {
            value
            for row in rows
            if (value := _value(row, column.name)) is not None or row.status is SpeedStatus.OK
        }
        if column.name in CONDITIONS and len(values) == 1 and len(rows) > 1:
            value = values.pop()
            if value is not None:
                alike[column.name] = f"{column.title} {shown(value, column)}"
    return alike


def _repeated(rows: Sequence[SpeedRow]) -> list[str]:
    """Times that are those of the first token in every row."""
    if all(row.ttft_ms_p50 is None for row in rows):
        return []
    return [
        name
        for name in SAME_AS_FIRST_TOKEN
        if all(
            a is None or b is None or abs(a - b) < SAME_MS
            for a, b in ((getattr(row, name), row.ttft_ms_p50) for row in rows)
        )
    ]


def _shared(
    source: SpeedSource, alike: Mapping[str, str], repeated: Sequence[str]
) -> Iterable[str]:
    if alike:
        yield f"in every row: {', '.join(alike.values())}"
    if repeated:
        words = " and ".join(SAME_AS_FIRST_TOKEN[name] for name in repeated)
        yield f"{words} came with the first token in every row"
    if source is SpeedSource.EVALBOT:
        yield (
            "prefill and decode are one stream's; all streams is what they wrote together, over "
            "the whole round, so that reading the prompts counts too"
        )


def _title(source: SpeedSource, rows: Sequence[SpeedRow]) -> str:
    labels = {row.label for row in rows if row.label}
    return f"{TITLES[source]} ({labels.pop()})" if len(labels) == 1 else TITLES[source]


def _value(row: SpeedRow, name: str) -> Value:
    value: Value = getattr(row, name)
    return str(value) if isinstance(value, str) else value


def _evidence(rows: Sequence[SpeedRow]) -> Iterable[str]:
    """What each row that is not ok rests on, rows with the same reason together."""
    labelled = len({row.label for row in rows}) > 1
    alike: dict[tuple[SpeedStatus, str], dict[str, None]] = {}
    for row in rows:
        # That a benchmark's samples vary is no reason to doubt them.
        if row.evidence and not (
            row.status is SpeedStatus.OK and row.source is SpeedSource.LLAMA_BENCH
        ):
            alike.setdefault((row.status, row.evidence), {})[_name(row, labelled)] = None
    for (status, evidence), names in alike.items():
        told = "; ".join(list(names)[:MOST_NAMES])
        if len(names) > MOST_NAMES:
            told += f" and {len(names) - MOST_NAMES} more"
        yield f"{told}: {evidence}" if status is SpeedStatus.OK else f"{told}: {status}: {evidence}"


def _name(row: SpeedRow, labelled: bool) -> str:
    parts = (row.label if labelled else None, row.model, row.hardware, row.test)
    return ", ".join(part for part in parts if part)
