"""Where each reviewer is, and what they have typed and not said yet: replaced as they go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from evalbot.domain.reviewing import Draft
from evalbot.store.review_schema import draft_table, place_table
from evalbot.store.texts import insert_if_new


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
