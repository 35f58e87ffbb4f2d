"""Answers of a run that are not ok, grouped by what went wrong in which words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.store.answers import last_attempts
from evalbot.store.schema import answer_table

EXAMPLES = 3
MOST_ROWS = 600


class Failed(NamedTuple):
    """One of the first answers that failed in these words; times: how many did."""

    status: AnswerStatus
    words: str | None
    place: Place
    times: int


def count_by_status(connection: Connection, run: str) -> dict[AnswerStatus, int]:
    """How the counting answers of a run ended."""
    query = select(answer_table.c.status, func.count()).group_by(answer_table.c.status)
    rows = connection.execute(last_attempts(query, run))
    return {AnswerStatus(row[0]): row[1] for row in rows}


def first_failures(connection: Connection, run: str) -> Sequence[Failed]:
    """The first few answers of each endpoint, status and wording; the most frequent come first."""
    alike = (answer_table.c.status, answer_table.c.endpoint, answer_table.c.error_detail)
    query = select(
        answer_table.c.status,
        answer_table.c.endpoint,
        answer_table.c.error_detail,
        answer_table.c.case_key,
        answer_table.c.repeat,
        answer_table.c.pass_number,
        answer_table.c.id,
        func.count().over(partition_by=alike).label("times"),
        func.row_number().over(partition_by=alike, order_by=answer_table.c.id).label("number"),
    ).where(answer_table.c.status != AnswerStatus.OK)
    found = last_attempts(query, run).subquery()
    rows = connection.execute(
        select(found)
        .where(found.c.number <= EXAMPLES)
        .order_by(found.c.times.desc(), found.c.id)
        .limit(MOST_ROWS)
    )
    return [
        Failed(
            AnswerStatus(row.status),
            row.error_detail,
            Place(row.case_key, row.endpoint, row.repeat, row.pass_number),
            row.times,
        )
        for row in rows
    ]
