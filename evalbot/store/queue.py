"""A reviewer's queue: the next item, its answers, how far they have come.

Every query here is answered from an index, however large the campaign is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from evalbot.domain.reviewing import Assignment
from evalbot.store.assignments import assignment_of
from evalbot.store.review_schema import (
    assignment_table,
    campaign_table,
    held_table,
)
from evalbot.store.schema import answer_table

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


def graded_last(connection: Connection, reviewer: str, campaigns: Sequence[str]) -> str | None:
    """In which of these campaigns a reviewer graded last; None where they graded in none."""
    return connection.execute(
        select(assignment_table.c.campaign)
        .where(assignment_table.c.campaign.in_(list(campaigns)))
        .where(assignment_table.c.reviewer == reviewer)
        .where(assignment_table.c.withdrawn_at.is_(None), assignment_table.c.done_at.is_not(None))
        .order_by(assignment_table.c.done_at.desc())
        .limit(1)
    ).scalar_one_or_none()


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
