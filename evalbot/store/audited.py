"""Answers and who graded them, as audits look at them: without texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, cast, func, select

from evalbot.store.answers import STREAMED, last_attempts
from evalbot.store.glances import GLANCES, GradeGlance
from evalbot.store.schema import answer_table, grade_table, grader_table


class AuditRow(NamedTuple):
    """A counting answer; length: its characters."""

    id: int
    case: str
    endpoint: str
    repeat: int
    status: str
    length: int
    finish_reason: str | None
    ttfot_ms: float | None
    decode_tps: float | None


def rows_to_audit(connection: Connection, run: str) -> Iterator[AuditRow]:
    """The counting answers of a run in the order they were given; self-checks are left out."""
    query = (
        select(
            answer_table.c.id,
            answer_table.c.case_key,
            answer_table.c.endpoint,
            answer_table.c.repeat,
            answer_table.c.status,
            func.length(answer_table.c.text),
            answer_table.c.finish_reason,
            answer_table.c.ttfot_ms,
            answer_table.c.decode_tps,
        )
        .where(answer_table.c.pass_number == 1)
        .order_by(answer_table.c.id)
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return (AuditRow._make(row) for page in result.partitions() for row in page)


def grades_to_audit(connection: Connection, run: str) -> Iterator[GradeGlance]:
    """All grades of these answers but single votes of a judge, by answer, oldest first."""
    query = (
        GLANCES.join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.pass_number == 1, grade_table.c.vote.is_(None))
        .order_by(grade_table.c.answer_id, grade_table.c.id)
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return (GradeGlance._make(row) for page in result.partitions() for row in page)


def families_of_judges(connection: Connection, run: str) -> dict[str, str | None]:
    """By name, the judges and the panel that have graded a run, and of which family they are."""
    rows = connection.execute(
        select(grader_table.c.name, grader_table.c.family)
        .where(
            grader_table.c.layer == "judge",
            select(grade_table.c.id)
            .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
            .where(answer_table.c.run == run, grade_table.c.vote.is_(None))
            .where(grade_table.c.grader_id == grader_table.c.id)
            .exists(),
        )
        .order_by(grader_table.c.name)
    )
    return dict(rows.all())


def count_grades_after_judge(connection: Connection, run: str) -> int:
    """How many grades of people were given after a judge's had been shown to them."""
    query = (
        select(func.count())
        .select_from(grade_table)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.run == run, grade_table.c.layer == "human")
        .where(cast(grade_table.c.seen, Text).contains('"judge"'))
    )
    return connection.execute(query).scalar_one()


class Ticks(NamedTuple):
    """A grade's checkpoints beside what tells whether it counts."""

    glance: GradeGlance
    checkpoints: Sequence[Mapping[str, Any]]


def ticks_to_audit(connection: Connection, run: str) -> Iterator[Ticks]:
    """Grades of judges and people that say something of checkpoints, by answer, oldest first."""
    query = (
        GLANCES.add_columns(grade_table.c.checkpoints)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.pass_number == 1, grade_table.c.vote.is_(None))
        .where(grade_table.c.checkpoints.is_not(None))
        .order_by(grade_table.c.answer_id, grade_table.c.id)
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    for page in result.partitions():
        for row in page:
            yield Ticks(GradeGlance._make(row[:-1]), row[-1])


def evidence_of_reviewed(connection: Connection, run: str) -> dict[int, Mapping[str, Any]]:
    """By answer, the newest automatic grade's evidence where people have graded, too."""
    by_people = select(grade_table.c.answer_id).where(
        grade_table.c.layer.in_(["human", "adjudicated"])
    )
    query = (
        select(grade_table.c.answer_id, grade_table.c.evidence)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.pass_number == 1, grade_table.c.layer == "auto")
        .where(grade_table.c.answer_id.in_(by_people))
        .order_by(grade_table.c.id)
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return {answer: evidence or {} for page in result.partitions() for answer, evidence in page}
