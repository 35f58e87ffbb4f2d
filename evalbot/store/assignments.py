"""Assignments in the record, as leads make and follow them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from evalbot.domain.reviewing import Assignment, Held, Purpose
from evalbot.store.answers import STREAMED
from evalbot.store.review_schema import assignment_table, held_table, known_grade_table
from evalbot.store.schema import answer_table
from evalbot.store.texts import FEW, insert_if_new


def add_assignments(connection: Connection, assignments: Sequence[Assignment]) -> None:
    """Write assignments."""
    if assignments:
        rows = [{**_fields(one), "purpose": str(one.purpose)} for one in assignments]
        connection.execute(insert(assignment_table), rows)


def read_assignments(
    connection: Connection, campaign: str, reviewer: str | None = None, *, lock: bool = False
) -> Iterator[Assignment]:
    """The assignments of a campaign, withdrawn ones too, by reviewer and place in the queue.

    lock: nobody else may change them until the transaction ends.
    """
    query = select(assignment_table).where(assignment_table.c.campaign == campaign)
    if reviewer is not None:
        query = query.where(assignment_table.c.reviewer == reviewer)
    query = query.order_by(
        assignment_table.c.reviewer, assignment_table.c.item, assignment_table.c.position
    )
    if lock:
        query = query.with_for_update(key_share=True)
    for row in connection.execute(query, execution_options=STREAMED):
        yield assignment_of(row)


def get_assignment(
    connection: Connection, assignment_id: str, *, lock: bool = False
) -> Assignment | None:
    """The assignment of this id; lock: nobody else may change it until the transaction ends."""
    query = select(assignment_table).where(assignment_table.c.id == assignment_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
    return None if row is None else assignment_of(row)


def set_done(connection: Connection, assignment_id: str, at: datetime | None) -> None:
    """Note that an assignment was graded, or is open again (None)."""
    connection.execute(
        update(assignment_table).where(assignment_table.c.id == assignment_id).values(done_at=at)
    )


def withdraw(connection: Connection, assignment_ids: Sequence[str], at: datetime) -> None:
    """Take assignments back from their reviewers."""
    for start in range(0, len(assignment_ids), FEW):
        connection.execute(
            update(assignment_table)
            .where(assignment_table.c.id.in_(list(assignment_ids[start : start + FEW])))
            .values(withdrawn_at=at)
        )


def set_inclusion(connection: Connection, chances: Mapping[str, float]) -> None:
    """Write, by assignment, the chance of being drawn in all draws so far."""
    by_chance: dict[float, list[str]] = {}
    for assignment_id, chance in chances.items():
        by_chance.setdefault(chance, []).append(assignment_id)
    for chance, ids in by_chance.items():
        for start in range(0, len(ids), FEW):
            connection.execute(
                update(assignment_table)
                .where(assignment_table.c.id.in_(ids[start : start + FEW]))
                .values(inclusion_probability=chance)
            )


class ReviewerProgress(NamedTuple):
    """How far one reviewer has come; practice is left out. last_at: when they last graded."""

    reviewer: str
    total: int
    done: int
    last_at: datetime | None


def progress_of(connection: Connection, campaign: str) -> list[ReviewerProgress]:
    """The progress of each reviewer of a campaign, by name."""
    rows = connection.execute(
        select(
            assignment_table.c.reviewer,
            func.count(),
            func.count(assignment_table.c.done_at),
            func.max(assignment_table.c.done_at),
        )
        .where(assignment_table.c.campaign == campaign)
        .where(assignment_table.c.withdrawn_at.is_(None), assignment_table.c.item >= 0)
        .group_by(assignment_table.c.reviewer)
        .order_by(assignment_table.c.reviewer)
    )
    return [ReviewerProgress(*row) for row in rows]


class Checked(NamedTuple):
    """What a reviewer said last of an answer whose verdict was known."""

    reviewer: str
    known: str
    verdict: str | None
    unscored_reason: str | None


def attention_results(connection: Connection, campaign: str) -> list[Checked]:
    """The newest word of each reviewer on each attention item that was graded."""
    newest = (
        select(func.max(known_grade_table.c.id).label("id"))
        .join(assignment_table, assignment_table.c.id == known_grade_table.c.assignment)
        .where(assignment_table.c.campaign == campaign)
        .where(assignment_table.c.purpose == str(Purpose.ATTENTION))
        .group_by(known_grade_table.c.assignment)
        .subquery()
    )
    rows = connection.execute(
        select(
            assignment_table.c.reviewer,
            assignment_table.c.known,
            known_grade_table.c.verdict,
            known_grade_table.c.unscored_reason,
        )
        .join(newest, newest.c.id == known_grade_table.c.id)
        .join(assignment_table, assignment_table.c.id == known_grade_table.c.assignment)
        .order_by(assignment_table.c.reviewer, known_grade_table.c.id)
    )
    return [Checked(row[0], str(row[1]), row[2], row[3]) for row in rows]


def put_held(connection: Connection, found: Iterable[Held]) -> None:
    """Note answers that name a model; what was decided about one before stays."""
    rows = [
        {"answer_id": one.answer_id, "names": list(one.names), "decision": one.decision,
         "shown": one.shown, "by": one.by, "at": one.at}
        for one in found
    ]  # fmt: skip
    if rows:
        connection.execute(insert_if_new(connection, held_table), rows)


class HeldAnswer(NamedTuple):
    """A held answer as a lead sees it."""

    held: Held
    case: str
    endpoint: str
    text: str


class HeldCounts(NamedTuple):
    """Answers of a campaign that name a model: all of them, and those that wait for a lead."""

    all: int
    waiting: int


def count_held(connection: Connection, campaign: str) -> HeldCounts:
    """How many answers of a campaign name a model."""
    row = connection.execute(
        select(
            func.count(),
            func.count().filter(held_table.c.decision.is_(None)),
        ).where(held_table.c.answer_id.in_(_drawn(campaign)))
    ).one()
    return HeldCounts(row[0], row[1])


def held_in(connection: Connection, campaign: str, most: int) -> list[HeldAnswer]:
    """At most so many held answers of a campaign, undecided first."""
    rows = connection.execute(
        select(held_table, answer_table.c.case_key, answer_table.c.endpoint, answer_table.c.text)
        .join(answer_table, answer_table.c.id == held_table.c.answer_id)
        .where(held_table.c.answer_id.in_(_drawn(campaign)))
        .order_by(held_table.c.decision.is_not(None), held_table.c.answer_id)
        .limit(most)
    )
    return [HeldAnswer(_held(row), row.case_key, row.endpoint, row.text) for row in rows]


def waiting_in(connection: Connection, campaign: str) -> list[Held]:
    """The held answers of a campaign that nobody has decided about; locked until it is done."""
    rows = connection.execute(
        select(held_table)
        .where(held_table.c.answer_id.in_(_drawn(campaign)), held_table.c.decision.is_(None))
        .order_by(held_table.c.answer_id)
        .with_for_update()
    )
    return [_held(row) for row in rows]


def _drawn(campaign: str) -> Select[int | None]:
    return select(assignment_table.c.answer_id).where(
        assignment_table.c.campaign == campaign, assignment_table.c.answer_id.is_not(None)
    )


def get_held(connection: Connection, answer_id: int, *, lock: bool = False) -> Held | None:
    """What is known of a held answer; lock: nobody else may decide meanwhile."""
    query = select(held_table).where(held_table.c.answer_id == answer_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
    return None if row is None else _held(row)


def decide_held(connection: Connection, held: Held) -> None:
    """Write what a lead decided."""
    connection.execute(
        update(held_table)
        .where(held_table.c.answer_id == held.answer_id)
        .values(decision=held.decision, shown=held.shown, by=held.by, at=held.at)
    )


def _fields(assignment: Assignment) -> dict[str, Any]:
    # Not asdict, which copies every value: campaigns have a hundred thousand of these.
    fields = {name: getattr(assignment, name) for name in Assignment.__dataclass_fields__}
    fields["case_key"] = fields.pop("case")
    return fields


def assignment_of(row: Row[Any]) -> Assignment:
    """An assignment from its row."""
    fields = {
        name: getattr(row, name) for name in Assignment.__dataclass_fields__ if name != "case"
    }
    return Assignment(**{**fields, "case": row.case_key, "purpose": Purpose(row.purpose)})


def _held(row: Row[Any]) -> Held:
    return Held(row.answer_id, tuple(row.names), row.decision, row.shown, row.by, row.at)
