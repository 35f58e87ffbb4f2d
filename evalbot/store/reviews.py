"""Whole reviews of a run as they leave the record and come into it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from evalbot.domain.answers import Place
from evalbot.domain.reviewing import Held, KnownGrade
from evalbot.store.answers import STREAMED
from evalbot.store.campaigns import draws_of, list_campaigns
from evalbot.store.review_schema import assignment_table, held_table, known_grade_table
from evalbot.store.schema import answer_table


def places_by_row(connection: Connection, run: str) -> dict[int, tuple[Place, int]]:
    """By row id, where each answer of a run stands, and which attempt it is."""
    rows = connection.execute(
        select(
            answer_table.c.id,
            answer_table.c.case_key,
            answer_table.c.endpoint,
            answer_table.c.repeat,
            answer_table.c.pass_number,
            answer_table.c.attempt,
        ).where(answer_table.c.run == run),
        execution_options=STREAMED,
    )
    return {
        id_: (Place(case, endpoint, repeat, pass_), attempt)
        for id_, case, endpoint, repeat, pass_, attempt in rows
    }


def held_of_run(connection: Connection, run: str) -> list[Held]:
    """All answers of a run that name a model, whatever was decided about them."""
    rows = connection.execute(
        select(held_table)
        .join(answer_table, answer_table.c.id == held_table.c.answer_id)
        .where(answer_table.c.run == run)
    )
    return [
        Held(row.answer_id, tuple(row.names), row.decision, row.shown, row.by, row.at)
        for row in rows
    ]


def known_grades_of(connection: Connection, campaign: str) -> dict[str, list[KnownGrade]]:
    """By assignment, all that was said of answers whose verdict was known, oldest first."""
    rows = connection.execute(
        select(known_grade_table)
        .join(assignment_table, assignment_table.c.id == known_grade_table.c.assignment)
        .where(assignment_table.c.campaign == campaign)
        .order_by(known_grade_table.c.id)
    )
    found: dict[str, list[KnownGrade]] = {}
    for row in rows:
        grade = KnownGrade(**{name: getattr(row, name) for name in KnownGrade._fields})
        found.setdefault(row.assignment, []).append(grade)
    return found


def add_known_grades(connection: Connection, grades: Sequence[KnownGrade]) -> None:
    """Write what was said of known answers, in this order."""
    if grades:
        connection.execute(insert(known_grade_table), [grade._asdict() for grade in grades])


def people_in_reviews(connection: Connection, run: str) -> set[str]:
    """Everybody who drew, was given, graded or decided anything in the reviews of a run."""
    found: set[str] = set()
    for campaign in list_campaigns(connection, run):
        found.update(campaign.plan.reviewers, [campaign.created_by])
        found.update(draw.by for draw in draws_of(connection, campaign.id))
        reviewers = select(assignment_table.c.reviewer).distinct()
        query = reviewers.where(assignment_table.c.campaign == campaign.id)
        found.update(connection.execute(query).scalars())
    found.update(one.by for one in held_of_run(connection, run) if one.by is not None)
    return found
