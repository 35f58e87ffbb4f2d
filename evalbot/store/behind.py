"""The answers of one model of a run without their texts, and their grades: few columns, fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from evalbot.store.answers import last_attempts
from evalbot.store.grades import GradeGlance
from evalbot.store.schema import answer_table, grade_table, grader_table


class ModelAnswer(NamedTuple):
    """A counting answer of the model."""

    id: int
    case: str
    repeat: int
    status: str


def answers_of_model(
    connection: Connection,
    run: str,
    endpoint: str,
    pass_: int,
    verdict: str | None,
    layers: Sequence[str],
) -> list[ModelAnswer]:
    """The model's counting answers. verdict: only those that some grade of these layers gave it."""
    query = select(
        answer_table.c.id, answer_table.c.case_key, answer_table.c.repeat, answer_table.c.status
    ).where(answer_table.c.endpoint == endpoint, answer_table.c.pass_number == pass_)
    if verdict is not None:
        query = query.where(
            select(grade_table.c.id)
            .where(grade_table.c.answer_id == answer_table.c.id)
            .where(grade_table.c.layer.in_(list(layers)), grade_table.c.verdict == verdict)
            .exists()
        )
    return [ModelAnswer._make(row) for row in connection.execute(last_attempts(query, run))]


def grades_of_model(
    connection: Connection, run: str, endpoint: str, pass_: int, layers: Sequence[str]
) -> dict[int, list[GradeGlance]]:
    """By answer, the grades of the model's answers in these layers, oldest first."""
    query = (
        select(
            grade_table.c.id,
            grade_table.c.answer_id,
            grade_table.c.layer,
            grader_table.c.name,
            grade_table.c.verdict,
            grade_table.c.unscored_reason,
            grade_table.c.rubric_fingerprint,
            grade_table.c.case_fingerprint,
            grade_table.c.at,
        )
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
        .where(answer_table.c.run == run, answer_table.c.endpoint == endpoint)
        .where(answer_table.c.pass_number == pass_, grade_table.c.layer.in_(list(layers)))
        .order_by(grade_table.c.id)
    )
    found: dict[int, list[GradeGlance]] = {}
    for row in connection.execute(query):
        found.setdefault(row[1], []).append(GradeGlance._make(row))
    return found
