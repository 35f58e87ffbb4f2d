"""Rates as tables: every contract column for programs, fewer and plainer ones for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.reporting.rates import RateRow
from evalbot.stats.rounding import percent

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
        "ttfot_ms_p50", "decode_tps_p50", "timing_source", "run",
    ]  # fmt: skip
    return Table(
        "Rates",
        tuple(Column(name, name) for name in names),
        tuple(_machine_row(row, verdicts, reasons) for row in rows),
    )


def people_table(rows: Sequence[RateRow]) -> Table:
    """What a reader compares models by; the small print stands in the notes."""
    rubrics = {row.rubric.name: row.rubric for row in rows}
    suites = {row.suite for row in rows}
    one_scale = next(iter(rubrics.values())) if len(rubrics) == 1 else None
    several = len(suites) > 1
    open_ = any(row.rate.unscored or row.rate.stale for row in rows)
    tagged = any(row.tag is not None for row in rows)
    columns = [
        *([Column("suite", "suite")] if several else []),
        *([Column("tag", "tag")] if tagged else []),
        Column("model", "model"),
        *([Column("measure", "measure")] if one_scale is None else []),
        Column("rate", one_scale.rate.title if one_scale else "rate", RATE),
        Column("interval", "95 % interval", NUMBER),
        Column("n", "n", COUNT),
        *(
            Column(f"count_{step.verdict}", f"{step.symbol} {step.verdict}".strip(), COUNT)
            for step in (one_scale.scale if one_scale else ())
        ),
        Column("unscored", "unscored", COUNT),
        *([Column("range", "min – max", NUMBER)] if open_ else []),
        *([Column("stale", "stale", COUNT)] if any(row.rate.stale for row in rows) else []),
        Column("ttfot_ms_p50", "first text ms", NUMBER, 0),
        Column("decode_tps_p50", "tok/s", NUMBER),
    ]
    return Table(
        _title(rows, one_scale is not None),
        tuple(columns),
        tuple(_people_row(row, columns) for row in rows),
        tuple(_notes(rows)),
    )


def _title(rows: Sequence[RateRow], one_measure: bool) -> str:
    if not rows:
        return "Rates"
    suites = ", ".join(dict.fromkeys(row.suite for row in rows))
    layer = f"{rows[0].layer} layer"
    if not one_measure:
        return f"{suites}: rates, {layer}"
    rate = rows[0].rubric.rate
    return f"{suites}: {rate.title}, {rate.direction} is better, {layer}"


def _people_row(row: RateRow, columns: Sequence[Column]) -> tuple[Value, ...]:
    rate = row.rate
    cells: Mapping[str, Value] = {
        "suite": row.suite,
        "tag": row.tag,
        "model": row.model,
        "measure": f"{row.rubric.rate.title} ({row.rubric.rate.direction} is better)",
        "rate": rate.rate,
        "interval": _span(rate.low, rate.high),
        "n": rate.n,
        "unscored": rate.unscored,
        "range": _span(rate.rate_min, rate.rate_max),
        "stale": rate.stale,
        "ttfot_ms_p50": row.speed.ttfot_ms_p50,
        "decode_tps_p50": row.speed.decode_tps_p50,
        **{f"count_{verdict}": count for verdict, count in rate.counts.items()},
    }
    return tuple(cells[column.name] for column in columns)


def _span(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{percent(low).removesuffix(' %')} – {percent(high)}"


def _notes(rows: Sequence[RateRow]) -> Iterable[str]:
    """What min and max are, why answers are unscored, and what each rate rests on."""
    if any(row.rate.unscored or row.rate.stale for row in rows):
        yield (
            "min – max: the lowest and the highest the rate could be, whatever verdicts the "
            "unscored answers would get"
        )
    for row in rows:
        if row.rate.reasons and row.tag is None:
            reasons = ", ".join(
                f"{count} {reason}" for reason, count in sorted(row.rate.reasons.items())
            )
            yield f"{row.suite}, {row.model}: unscored answers: {reasons}"
    signed: dict[str, list[str]] = {}
    for row in rows:
        signed.setdefault(row.signature, [])
        if row.model not in signed[row.signature]:
            signed[row.signature].append(row.model)
    for signature, models in signed.items():
        yield f"signature of {', '.join(models)}: {signature}"


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
    )  # fmt: skip


def _verdicts(rows: Iterable[RateRow]) -> list[str]:
    return list(dict.fromkeys(verdict for row in rows for verdict in row.rubric.verdicts))


def _reasons(rows: Iterable[RateRow]) -> list[str]:
    return sorted({reason for row in rows for reason in row.rate.reasons})
