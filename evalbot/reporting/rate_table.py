"""Rates as tables: every contract column for programs, fewer and plainer ones for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalbot.auditing.corrected import CorrectedModel
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.formats.tables.table import DASH
from evalbot.reporting.rate_rows import RateRow
from evalbot.stats.rounding import half_up, percent

CORRECTED = (
    "judge_rate", "human_rate", "human_n", "policy", "interval", "judge_low", "judge_high",
    "human_low", "human_high",
)  # fmt: skip
"""Columns that only the corrected layer has."""

TEXT, COUNT, NUMBER, RATE = Kind.TEXT, Kind.COUNT, Kind.NUMBER, Kind.RATE


def machine_table(rows: Sequence[RateRow]) -> Table:
    """contract.md's columns of `rates`."""
    verdicts = _verdicts(rows)
    reasons = _reasons(rows)
    names = [
        "suite", "model", "layer", "grader", "tag", "n", "unscored", "stale", "rate_name",
        "rate", "low", "high", "rate_min", "rate_max", "direction", "signature",
        *(f"count_{verdict}" for verdict in verdicts),
        *(f"unscored_{reason}" for reason in reasons),
        "ttfot_ms_p50", "decode_tps_p50", "timing_source", "run", "repeat_change_rate",
        "total_ms_p50", "letters",
        *(CORRECTED if any(row.corrected for row in rows) else ()),
    ]  # fmt: skip
    return Table(
        "Rates",
        tuple(Column(name, name) for name in names),
        tuple(_machine_row(row, verdicts, reasons) for row in rows),
    )


def people_tables(rows: Sequence[RateRow], *, symbols: bool = True) -> list[Table]:
    """What a reader compares models by, a table for each suite; the notes are small print.

    symbols: the verdicts' own signs in the head of their columns, where they can be set.
    """
    suites: dict[str, list[RateRow]] = {}
    for row in rows:
        suites.setdefault(row.suite, []).append(row)
    return [_people_table(together, symbols) for together in suites.values()]


def _people_table(rows: Sequence[RateRow], symbols: bool) -> Table:
    rubrics = {row.rubric.name: row.rubric for row in rows}
    one_scale = next(iter(rubrics.values())) if len(rubrics) == 1 else None
    runs = len({row.run for row in rows}) > 1
    open_ = any(row.rate.rate_min != row.rate.rate_max for row in rows)
    tagged = any(row.tag is not None for row in rows)
    checked = any(row.model.endswith(CHECK_SUFFIX) for row in rows)
    repeated = any(row.rate.repeat_change is not None for row in rows)
    lettered = any(row.letters is not None for row in rows)
    corrected = any(row.corrected is not None for row in rows)
    columns = [
        *([Column("tag", "tag")] if tagged else []),
        *([Column("run", "run")] if runs else []),
        Column("model", "model"),
        *([Column("measure", "measure")] if one_scale is None else []),
        Column("rate", one_scale.rate.title if one_scale else "rate", RATE),
        Column("interval", "95 % interval", NUMBER),
        *([Column("letters", "alike")] if lettered else []),
        *(
            [
                Column("judge_rate", "judge alone", RATE),
                Column("judge_interval", "95 % interval", NUMBER),
                Column("human_rate", "people alone", RATE),
                Column("human_interval", "95 % interval", NUMBER),
                Column("human_n", "reviewed", COUNT),
                Column("policy", "drawn"),
                Column("method", "interval by"),
            ]
            if corrected
            else []
        ),
        Column("n", "n", COUNT),
        *(
            Column(
                f"count_{step.verdict}",
                f"{step.symbol if symbols else ''} {step.verdict}".strip(),
                COUNT,
            )
            for step in (one_scale.scale if one_scale and not corrected else ())
        ),
        Column("unscored", "unscored", COUNT),
        *([Column("range", "min – max", NUMBER)] if open_ else []),
        *([Column("stale", "stale", COUNT)] if any(row.rate.stale for row in rows) else []),
        *([Column("repeat_change_rate", "repeats differ", RATE)] if repeated else []),
        Column("ttfot_ms_p50", "first text ms", NUMBER, 0),
        Column("decode_tps_p50", "tok/s", NUMBER),
        *([Column("total_s_p50", "answer s", NUMBER)] if checked else []),
        Column("timing_source", "timed by"),
    ]
    return Table(
        _title(rows, one_scale is not None),
        tuple(columns),
        tuple(_people_row(row, columns) for row in rows),
        tuple(_notes(rows)),
    )


def _title(rows: Sequence[RateRow], one_measure: bool) -> str:
    runs = ", ".join(dict.fromkeys(row.run for row in rows))
    where = f"{rows[0].layer} layer ({runs})"
    if not one_measure:
        return f"{rows[0].suite}: rates, {where}"
    rate = rows[0].rubric.rate
    return f"{rows[0].suite}: {rate.title}, {rate.direction} is better, {where}"


def _people_row(row: RateRow, columns: Sequence[Column]) -> tuple[Value, ...]:
    rate, rate_total = row.rate, row.speed.total_ms_p50
    cells: Mapping[str, Value] = {
        "tag": row.tag,
        "run": row.run,
        "model": row.model,
        "measure": f"{row.rubric.rate.title} ({row.rubric.rate.direction} is better)",
        "rate": rate.rate,
        "interval": _span(rate.low, rate.high),
        "n": rate.n,
        "unscored": rate.unscored,
        "range": _span(rate.rate_min, rate.rate_max),
        "stale": rate.stale,
        "repeat_change_rate": rate.repeat_change,
        "ttfot_ms_p50": row.speed.ttfot_ms_p50,
        "decode_tps_p50": row.speed.decode_tps_p50,
        "total_s_p50": None if rate_total is None else rate_total / 1000,
        "timing_source": None if row.speed.timing_source == "none" else row.speed.timing_source,
        "letters": row.letters,
        **{f"count_{verdict}": count for verdict, count in rate.counts.items()},
        **({} if row.corrected is None else _corrected_row(row.corrected)),
    }
    return tuple(cells[column.name] for column in columns)


def _corrected_row(found: CorrectedModel) -> Mapping[str, Value]:
    corrected = found.corrected
    return {
        "judge_rate": found.judge_rate,
        "judge_interval": None if found.judge_interval is None else _span(*found.judge_interval),
        "human_rate": corrected.human_rate,
        "human_interval": _span(corrected.human_low, corrected.human_high),
        "human_n": corrected.human_n,
        "policy": found.policy,
        "method": corrected.interval,
    }


def _span(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{percent(low).removesuffix(' %')} – {percent(high)}"


def _notes(rows: Sequence[RateRow]) -> Iterable[str]:
    """What the columns mean here, why answers are unscored, and what each rate rests on."""
    yield from dict.fromkeys(note for row in rows for note in row.notes)
    if any(row.rate.rate_min != row.rate.rate_max for row in rows):
        yield (
            "min – max: the lowest and the highest the rate could be, whatever verdicts the "
            "unscored cases would get"
        )
    if any(row.letters is not None for row in rows):
        yield (
            "alike: models that share a letter cannot be told apart by these cases (exact paired "
            "sign-flip test, 5 %, Holm); evalbot compare tells of each pair"
        )
    if any(row.corrected is not None and row.rate.rate is not None for row in rows):
        yield (
            "the rate is the judge's, corrected by what people said of a drawn sample; it is "
            "what people would give to all answers of this run (docs/statistics.md)"
        )
    if any(row.rate.repeat_change is not None for row in rows):
        yield (
            "repeats differ: how often two repeats of a case have different verdicts, over cases "
            "with at least two scored"
        )
    if any(row.rate.stale for row in rows):
        yield (
            "stale: graded under an older text, and in neither n nor unscored; evalbot score "
            "renews the automatic grades, evalbot judge the judges'"
        )
    yield from _gains(rows)
    for row in rows:
        if row.rate.reasons and row.tag is None:
            reasons = ", ".join(
                f"{count} {reason}" for reason, count in sorted(row.rate.reasons.items())
            )
            yield f"{_name(row, rows)}: unscored answers: {reasons}"
    yield from _signatures(rows)


def _gains(rows: Sequence[RateRow]) -> Iterable[str]:
    """What checking its own answer brought each model, and what it cost."""
    first = {(row.run, row.model): row for row in rows if row.tag is None}
    for row in first.values():
        before = first.get((row.run, row.model.removesuffix(CHECK_SUFFIX)))
        if before is None or before is row:
            continue
        told = (
            f"{before.rubric.rate.title} {_percent(before.rate.rate)} → {_percent(row.rate.rate)}"
        )
        cost = row.speed.total_ms_p50
        seconds = (
            "" if cost is None else f", at {half_up(cost / 1000, 1)} s more an answer (median)"
        )
        yield f"{_name(row, rows)}: its own answers checked once more: {told}{seconds}"


def _percent(rate: float | None) -> str:
    return DASH if rate is None else percent(rate)


def _signatures(rows: Sequence[RateRow]) -> Iterable[str]:
    """The signatures: the parts that all share once, and then what is each one's own."""
    parts = {_name(row, rows): row.signature.split("|") for row in rows}
    asked = {_name(row, rows): row.asked for row in rows}
    shared = [
        part
        for part in next(iter(parts.values()), [])
        if all(part in others for others in parts.values())
    ]
    if len(parts) > 1:
        yield f"signature, all: {'|'.join(shared)}"
    for name, own in parts.items():
        rest = own if len(parts) == 1 else [part for part in own if part not in shared]
        words = f" ({asked[name]})" if asked[name] else ""
        yield f"signature, {name}: {'|'.join(rest)}{words}"


def _name(row: RateRow, rows: Sequence[RateRow]) -> str:
    """The model, with its run where there are several."""
    several = len({one.run for one in rows}) > 1
    return f"{row.run}, {row.model}" if several else row.model


def _machine_row(
    row: RateRow, verdicts: Sequence[str], reasons: Sequence[str]
) -> tuple[Value, ...]:
    rate, rule = row.rate, row.rubric.rate
    return (
        row.suite, row.model, row.layer, row.grader, row.tag, rate.n, rate.unscored, rate.stale,
        rule.name, rate.rate, rate.low, rate.high, rate.rate_min, rate.rate_max, rule.direction,
        row.signature,
        *(rate.counts.get(verdict) for verdict in verdicts),
        *(rate.reasons.get(reason, 0) for reason in reasons),
        row.speed.ttfot_ms_p50, row.speed.decode_tps_p50, row.speed.timing_source, row.run,
        rate.repeat_change, row.speed.total_ms_p50, row.letters,
        *([] if row.corrected is None else _corrected_cells(row.corrected)),
    )  # fmt: skip


def _corrected_cells(found: CorrectedModel) -> tuple[Value, ...]:
    corrected = found.corrected
    return (
        found.judge_rate, corrected.human_rate, corrected.human_n, found.policy,
        corrected.interval, *(found.judge_interval or (None, None)),
        corrected.human_low, corrected.human_high,
    )  # fmt: skip


def _verdicts(rows: Iterable[RateRow]) -> list[str]:
    return list(dict.fromkeys(verdict for row in rows for verdict in row.rubric.verdicts))


def _reasons(rows: Iterable[RateRow]) -> list[str]:
    return sorted({reason for row in rows for reason in row.rate.reasons})
