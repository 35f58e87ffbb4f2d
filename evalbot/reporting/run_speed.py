"""How fast the models of a run answered, as a by-product of asking them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.store import runs
from evalbot.store.answers import AnswerGlance, glance_at_answers
from evalbot.store.database import Database


def run_speed_table(database: Database, run_id: str) -> Table:
    """Medians per model; a column in which nothing is known is left out.

    Prefill is rarely known here: chats share their beginning, which the server then has cached.
    """
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        answers = list(glance_at_answers(connection, run.id))
    columns = (
        Column("model", "model"),
        Column("n", "answers", Kind.COUNT),
        Column("slots", "slots", Kind.COUNT),
        Column("ttft_ms_p50", "first token ms", Kind.NUMBER, 0),
        Column("ttfot_ms_p50", "first text ms", Kind.NUMBER, 0),
        Column("prefill_tps_p50", "prefill tok/s", Kind.NUMBER, 0),
        Column("decode_tps_p50", "decode tok/s", Kind.NUMBER),
        Column("timing_source", "timed by"),
    )
    rows = tuple(
        (endpoint.name, *_figures([a for a in answers if a.endpoint == endpoint.name],
                                  endpoint.slots))
        for endpoint in run.endpoints
    )  # fmt: skip
    known = [at for at in range(len(columns)) if any(row[at] is not None for row in rows)]
    return Table(
        f"{run.suite.name}: speed, medians over the answers",
        tuple(columns[at] for at in known),
        tuple(tuple(row[at] for at in known) for row in rows),
    )


def _figures(answers: Sequence[AnswerGlance], slots: int | None) -> tuple[Value, ...]:
    sources = {answer.timing_source for answer in answers} - {"none"}
    return (
        len(answers),
        slots,
        _median([answer.ttft_ms for answer in answers]),
        _median([answer.ttfot_ms for answer in answers]),
        _median([answer.prefill_tps for answer in answers]),
        _median([answer.decode_tps for answer in answers]),
        "+".join(sorted(sources)) or None,
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
