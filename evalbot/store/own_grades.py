"""What a reviewer has said: grades of answers, and words on answers whose verdict was known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select

from evalbot.domain.reviewing import Assignment, KnownGrade
from evalbot.store.review_schema import known_grade_table
from evalbot.store.schema import grade_table, grader_table

HUMAN = "human"


class OwnGrade(NamedTuple):
    """What a reviewer said last of an answer, and how often they said anything."""

    verdict: str | None
    unscored_reason: str | None
    comment: str | None
    ticked: tuple[str, ...]
    times: int


class PastGrade(NamedTuple):
    """One thing that a reviewer once said of an answer."""

    verdict: str | None
    unscored_reason: str | None
    comment: str | None
    ticked: tuple[str, ...]
    at: datetime


def own_history(connection: Connection, reviewer: str, one: Assignment) -> list[PastGrade]:
    """All that a reviewer said of what they were given here, oldest first."""
    if one.known is not None:
        query = select(
            known_grade_table.c.verdict,
            known_grade_table.c.unscored_reason,
            known_grade_table.c.comment,
            known_grade_table.c.checkpoints,
            known_grade_table.c.at,
        ).where(known_grade_table.c.assignment == one.id)
        rows = connection.execute(query.order_by(known_grade_table.c.id)).all()
    else:
        query = (
            select(
                grade_table.c.verdict,
                grade_table.c.unscored_reason,
                grade_table.c.comment,
                grade_table.c.checkpoints,
                grade_table.c.at,
            )
            .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
            .where(grade_table.c.answer_id == one.answer_id, grade_table.c.layer == HUMAN)
            .where(grader_table.c.name == reviewer, grade_table.c.campaign == one.campaign)
        )
        rows = connection.execute(query.order_by(grade_table.c.id)).all()
    return [PastGrade(row[0], row[1], row[2], _ticked(row[3]), row[4]) for row in rows]


def last_said_at(connection: Connection, reviewer: str, one: Assignment) -> datetime | None:
    """When a reviewer said something last of what they were given here, in any campaign."""
    if one.known is not None:
        query = select(func.max(known_grade_table.c.at)).where(
            known_grade_table.c.assignment == one.id
        )
    else:
        query = (
            select(func.max(grade_table.c.at))
            .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
            .where(grade_table.c.answer_id == one.answer_id, grade_table.c.layer == HUMAN)
            .where(grader_table.c.name == reviewer)
        )
    return connection.execute(query).scalar_one_or_none()


def own_grades(
    connection: Connection, campaign: str, reviewer: str, answers: Sequence[int]
) -> dict[int, OwnGrade]:
    """By answer, a reviewer's newest grade within a campaign."""
    rows = connection.execute(
        select(
            grade_table.c.answer_id,
            grade_table.c.verdict,
            grade_table.c.unscored_reason,
            grade_table.c.comment,
            grade_table.c.checkpoints,
        )
        .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
        .where(grade_table.c.answer_id.in_(list(answers)), grade_table.c.layer == HUMAN)
        .where(grader_table.c.name == reviewer, grade_table.c.campaign == campaign)
        .order_by(grade_table.c.id)
    )
    found: dict[int, OwnGrade] = {}
    for answer_id, verdict, reason, comment, checkpoints in rows:
        times = found[answer_id].times + 1 if answer_id in found else 1
        found[answer_id] = OwnGrade(verdict, reason, comment, _ticked(checkpoints), times)
    return found


def known_grades(connection: Connection, assignments: Sequence[str]) -> dict[str, OwnGrade]:
    """The same for answers whose verdict was known, by assignment."""
    rows = connection.execute(
        select(known_grade_table)
        .where(known_grade_table.c.assignment.in_(list(assignments)))
        .order_by(known_grade_table.c.id)
    )
    found: dict[str, OwnGrade] = {}
    for row in rows:
        times = found[row.assignment].times + 1 if row.assignment in found else 1
        found[row.assignment] = OwnGrade(
            row.verdict, row.unscored_reason, row.comment, _ticked(row.checkpoints), times
        )
    return found


def add_known_grade(connection: Connection, grade: KnownGrade) -> None:
    """Write what was said of an answer whose verdict was known."""
    connection.execute(
        insert(known_grade_table).values(
            **{
                **grade._asdict(),
                "checkpoints": None if grade.checkpoints is None else list(grade.checkpoints),
            }
        )
    )


def has_known_grade(connection: Connection, token: str) -> bool:
    """Whether something with this token was said of a known answer."""
    query = select(known_grade_table.c.id).where(known_grade_table.c.token == token)
    return connection.execute(query).scalar_one_or_none() is not None


def has_grade(connection: Connection, token: str) -> bool:
    """Whether a grade with this token is on record."""
    query = select(grade_table.c.id).where(grade_table.c.token == token)
    return connection.execute(query).scalar_one_or_none() is not None


def _ticked(checkpoints: object) -> tuple[str, ...]:
    if not isinstance(checkpoints, list):
        return ()
    return tuple(str(line["id"]) for line in checkpoints if line.get("met"))
