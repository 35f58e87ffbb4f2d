"""Rates with truth: the judge's, people's and the corrected rate of each model, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.rubrics import Layer
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.grading.basis import basis_of
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rates import rates_of_run
from evalbot.stats.rounding import percent
from evalbot.store import runs
from evalbot.store.database import Database

TEXT, COUNT, NUMBER, RATE = Kind.TEXT, Kind.COUNT, Kind.NUMBER, Kind.RATE


@dataclass(frozen=True, slots=True)
class Truths:
    """Rows of one run in three layers; corrected has a row for each of the judge's."""

    run: str
    judge: tuple[RateRow, ...]
    people: tuple[RateRow, ...]
    corrected: tuple[RateRow, ...]


def truths_of(database: Database, folder: Path, run_id: str, judge: str | None) -> Truths:
    """The rates of a run that both this judge and people can tell something of."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        basis = basis_of(run, folder)
        judged, people, corrected = (
            tuple(rates_of_run(connection, run, basis, query))
            for query in (
                RateQuery(Layer.JUDGE, judge),
                RateQuery(Layer.HUMAN),
                RateQuery(Layer.JUDGE, judge, corrected=True),
            )
        )
        return Truths(run.id, judged, people, corrected)


def truth_table(found: Truths) -> Table:
    """A line a model, best corrected rate first, and in the notes why a rate is refused."""
    judged = {row.model: row.rate for row in found.judge}
    people = {row.model: row.rate for row in found.people}
    rows: list[tuple[Value, ...]] = []
    for row in found.corrected:
        rate, own, theirs = row.rate, judged[row.model], people[row.model]
        corrected = None if row.corrected is None else row.corrected.corrected
        human: tuple[Value, ...] = (theirs.rate, _span(theirs.low, theirs.high), theirs.n)
        if corrected is not None and corrected.human_rate is not None:
            human = (
                corrected.human_rate,
                _span(corrected.human_low, corrected.human_high),
                corrected.human_n,
            )
        rows.append(
            (
                row.model, own.rate, _span(own.low, own.high), own.n, *human, rate.rate,
                _span(rate.low, rate.high), None if corrected is None else corrected.interval,
            )
        )  # fmt: skip
    title = found.corrected[0].rubric.rate if found.corrected else None
    name = f"{title.title}, {title.direction} is better" if title else "rates"
    return Table(
        f"{name} ({found.run})",
        (
            Column("model", "model"),
            Column("judge_rate", "judge", RATE),
            Column("judge_interval", "95 % interval", NUMBER),
            Column("judge_n", "n", COUNT),
            Column("human_rate", "people", RATE),
            Column("human_interval", "95 % interval", NUMBER),
            Column("human_n", "n", COUNT),
            Column("corrected", "corrected", RATE),
            Column("corrected_interval", "95 % interval", NUMBER),
            Column("method", "interval by"),
        ),
        tuple(rows),
        tuple(_notes(found)),
    )


def _notes(found: Truths) -> Iterator[str]:
    yield (
        "judge: its own rate over all it graded, with its errors; people: over what they graded; "
        "corrected: what people would give to all answers, the judge's rate mended by the drawn "
        "sample: the one to quote"
    )
    drawn = {row.corrected.policy for row in found.corrected if row.corrected} - {None}
    if drawn:
        yield f"what people graded was drawn by: {', '.join(sorted(map(str, drawn)))}"
    yield from dict.fromkeys(note for row in found.corrected for note in row.notes)


def chart_rows(found: Truths) -> Sequence[RateRow]:
    """All rows that a figure of the three layers is drawn of."""
    return [*found.judge, *found.people, *found.corrected]


def _span(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{percent(low).removesuffix(' %')} – {percent(high)}"
