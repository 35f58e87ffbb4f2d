"""What a reviewer's desk reads and writes: the next item, drafts, the place, own grades.

Every query here is answered from an index, however large the campaign is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, or_, select, update

from evalbot.domain.reviewing import Assignment, Draft, KnownGrade
from evalbot.store.assignments import assignment_of
from evalbot.store.review_schema import (
    assignment_table,
    campaign_table,
    draft_table,
    held_table,
    known_grade_table,
    place_table,
)
from evalbot.store.schema import answer_table, grade_table, grader_table
from evalbot.store.texts import insert_if_new

HUMAN = "human"
AFTER_ALL = 2**31 - 1


class Entry(NamedTuple):
    """One answer of an item with its text as reviewers may see it.

    is_truncated: its length limit cut it off. is_masked: names in it are covered.
    """

    assignment: Assignment
    text: str
    is_truncated: bool
    is_masked: bool


def open_campaigns(connection: Connection, reviewer: str) -> list[str]:
    """Ids of the open campaigns in which a reviewer has anything, oldest first."""
    rows = connection.execute(
        select(campaign_table.c.id)
        .where(campaign_table.c.closed_at.is_(None))
        .where(
            select(assignment_table.c.id)
            .where(assignment_table.c.campaign == campaign_table.c.id)
            .where(assignment_table.c.reviewer == reviewer)
            .where(assignment_table.c.withdrawn_at.is_(None))
            .exists()
        )
        .order_by(campaign_table.c.created_at, campaign_table.c.id)
    )
    return list(rows.scalars())


def item_entries(connection: Connection, campaign: str, reviewer: str, item: int) -> list[Entry]:
    """The answers of an item in their order, without those that are held back."""
    rows = connection.execute(
        _entries(reviewer)
        .where(assignment_table.c.campaign == campaign, assignment_table.c.item == item)
        .order_by(assignment_table.c.position)
    )
    return [_entry(row) for row in rows]


def one_entry(connection: Connection, assignment_id: str, reviewer: str) -> Entry | None:
    """One answer of a reviewer; None where it is not theirs, or not to be seen."""
    row = connection.execute(
        _entries(reviewer).where(assignment_table.c.id == assignment_id)
    ).one_or_none()
    return None if row is None else _entry(row)


def _entries(reviewer: str) -> Select[Any]:
    return (
        select(
            assignment_table,
            answer_table.c.text.label("answer_text"),
            answer_table.c.status,
            held_table.c.shown,
        )
        .outerjoin(answer_table, answer_table.c.id == assignment_table.c.answer_id)
        .outerjoin(held_table, held_table.c.answer_id == assignment_table.c.answer_id)
        .where(assignment_table.c.reviewer == reviewer, assignment_table.c.withdrawn_at.is_(None))
        .where(or_(held_table.c.answer_id.is_(None), held_table.c.decision.is_not(None)))
    )


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        assignment_of(row),
        next(one for one in (row.planted, row.shown, row.answer_text) if one is not None),
        row.status == "truncated",
        row.shown is not None,
    )


def next_item(
    connection: Connection, campaign: str, reviewer: str, after: int | None
) -> int | None:
    """The first item after this one that is open, else the first of all; None when all is done."""
    base = (
        select(assignment_table.c.item)
        .outerjoin(held_table, held_table.c.answer_id == assignment_table.c.answer_id)
        .where(assignment_table.c.campaign == campaign, assignment_table.c.reviewer == reviewer)
        .where(assignment_table.c.withdrawn_at.is_(None), assignment_table.c.done_at.is_(None))
        .where(or_(held_table.c.answer_id.is_(None), held_table.c.decision.is_not(None)))
        .order_by(assignment_table.c.item)
        .limit(1)
    )
    if after is not None:
        found = connection.execute(base.where(assignment_table.c.item > after)).scalar()
        if found is not None:
            return found
    return connection.execute(base).scalar()


def last_item(connection: Connection, campaign: str, reviewer: str) -> int | None:
    """The last item of a queue, open or not; None where there is none."""
    return neighbour(connection, campaign, reviewer, AFTER_ALL, before=True)


def neighbour(
    connection: Connection, campaign: str, reviewer: str, item: int, *, before: bool
) -> int | None:
    """The item before or after this one, open or not; None at the end."""
    column = assignment_table.c.item
    return connection.execute(
        select(column)
        .outerjoin(held_table, held_table.c.answer_id == assignment_table.c.answer_id)
        .where(assignment_table.c.campaign == campaign, assignment_table.c.reviewer == reviewer)
        .where(assignment_table.c.withdrawn_at.is_(None))
        .where(column < item if before else column > item)
        .where(or_(held_table.c.answer_id.is_(None), held_table.c.decision.is_not(None)))
        .order_by(column.desc() if before else column)
        .limit(1)
    ).scalar()


class Counts(NamedTuple):
    """How many answers a reviewer has graded, has open, and waits for."""

    done: int
    open: int
    held: int

    @property
    def total(self) -> int:
        """All that can be graded now, and was."""
        return self.done + self.open


def counts_of(connection: Connection, campaign: str, reviewer: str) -> Counts:
    """How far a reviewer has come; practice is left out."""
    mine = and_(
        assignment_table.c.campaign == campaign,
        assignment_table.c.reviewer == reviewer,
        assignment_table.c.withdrawn_at.is_(None),
        assignment_table.c.item >= 0,
    )
    done = connection.execute(
        select(func.count())
        .select_from(assignment_table)
        .where(mine, assignment_table.c.done_at.is_not(None))
    ).scalar_one()
    open_ = connection.execute(
        select(func.count())
        .select_from(assignment_table)
        .where(mine, assignment_table.c.done_at.is_(None))
    ).scalar_one()
    held = connection.execute(
        select(func.count())
        .select_from(held_table)
        .join(assignment_table, assignment_table.c.answer_id == held_table.c.answer_id)
        .where(mine, assignment_table.c.done_at.is_(None), held_table.c.decision.is_(None))
    ).scalar_one()
    return Counts(done, open_ - held, held)


def done_times(
    connection: Connection, campaign: str, reviewer: str, since: datetime, most: int
) -> list[datetime]:
    """When a reviewer graded since then, newest first, at most so many."""
    rows = connection.execute(
        select(assignment_table.c.done_at)
        .where(assignment_table.c.campaign == campaign, assignment_table.c.reviewer == reviewer)
        .where(assignment_table.c.withdrawn_at.is_(None), assignment_table.c.done_at >= since)
        .order_by(assignment_table.c.done_at.desc())
        .limit(most)
    )
    return [at for at in rows.scalars() if at is not None]


def last_done(connection: Connection, campaign: str, reviewer: str) -> Assignment | None:
    """What a reviewer graded last; None where nothing is."""
    row = connection.execute(
        select(assignment_table)
        .where(assignment_table.c.campaign == campaign, assignment_table.c.reviewer == reviewer)
        .where(assignment_table.c.withdrawn_at.is_(None), assignment_table.c.done_at.is_not(None))
        .order_by(assignment_table.c.done_at.desc(), assignment_table.c.item.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else assignment_of(row)


def get_place(connection: Connection, campaign: str, reviewer: str) -> int | None:
    """Where a reviewer is; None where they have not begun."""
    return connection.execute(
        select(place_table.c.item).where(
            place_table.c.campaign == campaign, place_table.c.reviewer == reviewer
        )
    ).scalar_one_or_none()


def newest_place(connection: Connection, reviewer: str) -> str | None:
    """The campaign that a reviewer worked on last."""
    return connection.execute(
        select(place_table.c.campaign)
        .where(place_table.c.reviewer == reviewer)
        .order_by(place_table.c.at.desc())
        .limit(1)
    ).scalar_one_or_none()


def set_place(
    connection: Connection, campaign: str, reviewer: str, item: int, at: datetime
) -> None:
    """Keep where a reviewer is."""
    forget_place(connection, campaign, reviewer)
    connection.execute(
        insert_if_new(connection, place_table).values(
            campaign=campaign, reviewer=reviewer, item=item, at=at
        )
    )


def forget_place(connection: Connection, campaign: str, reviewer: str) -> None:
    """A reviewer is at no item any more: all is done."""
    connection.execute(
        delete(place_table).where(
            place_table.c.campaign == campaign, place_table.c.reviewer == reviewer
        )
    )


def drafts_of(connection: Connection, assignments: Sequence[str]) -> dict[str, Draft]:
    """What is typed and ticked, by assignment."""
    rows = connection.execute(
        select(draft_table).where(draft_table.c.assignment.in_(list(assignments)))
    )
    return {row.assignment: Draft(row.comment, tuple(row.ticked)) for row in rows}


def set_draft(connection: Connection, assignment: str, draft: Draft, at: datetime) -> None:
    """Keep what is typed and ticked, also that nothing is any more."""
    forget_draft(connection, assignment)
    connection.execute(
        insert_if_new(connection, draft_table).values(
            assignment=assignment, comment=draft.comment, ticked=list(draft.ticked), at=at
        )
    )


def move_draft(connection: Connection, assignment: str, to: str) -> None:
    """What was typed for an assignment belongs to another from now on."""
    connection.execute(
        update(draft_table).where(draft_table.c.assignment == assignment).values(assignment=to)
    )


def forget_draft(connection: Connection, assignment: str) -> None:
    """What was typed has been submitted."""
    connection.execute(delete(draft_table).where(draft_table.c.assignment == assignment))


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
