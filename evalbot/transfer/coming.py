"""New runs made from imported rows, and what is told about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evalbot.domain.answers import Answer, Timing, Usage
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run
from evalbot.endpoints.outcome import read_complete
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Connection, after_bulk_write
from evalbot.store.grades import GradeWriter
from evalbot.store.texts import put_texts

UNTIMED = Timing()


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the rows of a suite: their run, and how many were new to the record."""

    run: str
    suite: str
    rows: int
    new: int


@dataclass(frozen=True, slots=True)
class Coming:
    """A run that is ready to be written.

    key: content of its rows, so that they come in once. grades: each with the position of
    its answer. case_rules and rubric_rules: the texts that the grades name.
    """

    key: str
    rows: int
    run: Run
    answers: Sequence[RecordedAnswer]
    grades: Sequence[tuple[int, NewGrade]]
    case_rules: Sequence[Mapping[str, Any]]
    rubric_rules: Sequence[Mapping[str, Any]]


def received(
    text: str, *, reasoning: str = "", finish_reason: str | None = None, timing: Timing = UNTIMED
) -> Answer:
    """An answer as if it had just come whole; its status is told as of any other."""
    reading = read_complete(text, reasoning, finish_reason, Usage(), None, None, 0)
    return Answer(
        status=reading.status,
        text=reading.text,
        reasoning=reading.reasoning,
        raw=text,
        started_at=datetime.now(UTC),
        finish_reason=finish_reason,
        timing=timing,
    )


def write_coming(connection: Connection, coming: Coming) -> Imported:
    """Write a new run, unless the same rows made one before."""
    suite = coming.run.suite.name
    before = runs.run_imported_as(connection, coming.key)
    if before is not None:
        return Imported(before, suite, coming.rows, new=0)
    runs.create_run(connection, coming.run)
    put_texts(connection, "case_rule", coming.case_rules)
    put_texts(connection, "rubric_rule", coming.rubric_rules)
    ids = add_answers(connection, coming.run.id, coming.answers)
    GradeWriter(connection).add([(ids[at], grade) for at, grade in coming.grades])
    after_bulk_write(connection)
    return Imported(coming.run.id, suite, coming.rows, new=coming.rows)
