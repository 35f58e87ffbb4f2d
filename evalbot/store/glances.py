"""Grades without their evidence: what rates, draws and disagreements are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, select

from evalbot.store.answers import STREAMED, last_attempts
from evalbot.store.schema import answer_table, grade_table, grader_table


class GradeGlance(NamedTuple):
    """What a rate needs of a grade; id tells which of two was given later."""

    id: int
    answer_id: int
    layer: str
    grader: str
    verdict: str | None
    unscored_reason: str | None
    rubric_fingerprint: str
    case_fingerprint: str
    at: datetime


GLANCE = (
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
"""The columns of a glance, in its order."""

GLANCES = select(*GLANCE).join(grader_table, grader_table.c.id == grade_table.c.grader_id)


def glance_at_grades(
    connection: Connection, run: str, layers: Sequence[str]
) -> Iterator[GradeGlance]:
    """Grades of the counting answers of a run in these layers, by answer, oldest first."""
    query = GLANCES.join(answer_table, answer_table.c.id == grade_table.c.answer_id)
    query = query.where(grade_table.c.layer.in_(list(layers)))
    query = query.order_by(grade_table.c.answer_id, grade_table.c.id)
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return (GradeGlance._make(row) for page in result.partitions() for row in page)


def glance_at_grades_of(
    connection: Connection, answers: Sequence[int], layers: Sequence[str]
) -> dict[int, list[GradeGlance]]:
    """By answer, the grades of a few answers in these layers, oldest first."""
    query = GLANCES.where(grade_table.c.answer_id.in_(list(answers)))
    query = query.where(grade_table.c.layer.in_(list(layers))).order_by(grade_table.c.id)
    found: dict[int, list[GradeGlance]] = {answer: [] for answer in answers}
    for row in connection.execute(query):
        glance = GradeGlance._make(row)
        found[glance.answer_id].append(glance)
    return found


def glance_at_reviewed(connection: Connection, run: str) -> Iterator[tuple[str, list[GradeGlance]]]:
    """Of each counting answer that people have graded: its case, and all its grades."""
    by_people = select(grade_table.c.answer_id).where(grade_table.c.layer == "human")
    query = (
        GLANCES.add_columns(answer_table.c.case_key)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(grade_table.c.answer_id.in_(by_people))
        .order_by(grade_table.c.answer_id, grade_table.c.id)
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    for (case, _), rows in groupby(result, key=lambda row: (row[-1], row[1])):
        yield case, [GradeGlance._make(row[:-1]) for row in rows]
