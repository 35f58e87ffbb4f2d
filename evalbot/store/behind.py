"""The answers of one model of a run without their texts, few at a time, and their grades."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, not_, select

from evalbot.store.answers import last_attempts
from evalbot.store.schema import answer_table, grade_table, run_case_table

AT_ONCE = 400


class ModelAnswer(NamedTuple):
    """A counting answer of the model."""

    id: int
    case: str
    repeat: int
    status: str


class Wanted(NamedTuple):
    """Which answers may be meant, by their grades in these layers.

    verdict: some grade gave it. is_open: they are not all there and of one verdict. This narrows
    the search; what the layer says of an answer is told by all its grades together.
    """

    layers: Sequence[str]
    verdict: str | None = None
    is_open: bool = False


def answers_of_model(
    connection: Connection, run: str, endpoint: str, pass_: int, wanted: Wanted, start: int = 0
) -> Generator[Sequence[ModelAnswer]]:
    """The model's counting answers in the suite's order, in pages, without the first ones."""
    query = (
        select(
            answer_table.c.id, answer_table.c.case_key, answer_table.c.repeat, answer_table.c.status
        )
        .join(
            run_case_table,
            and_(
                run_case_table.c.run == answer_table.c.run,
                run_case_table.c.case_key == answer_table.c.case_key,
            ),
        )
        .where(answer_table.c.endpoint == endpoint, answer_table.c.pass_number == pass_)
        .order_by(run_case_table.c.position, answer_table.c.repeat)
        .offset(start)
    )
    if wanted.verdict is not None:
        query = query.where(_has_verdict(wanted))
    if wanted.is_open:
        query = query.where(not_(_is_settled(wanted)))
    # Closed at once where the reader has enough: PostgreSQL keeps a cursor for it.
    with connection.execute(
        last_attempts(query, run), execution_options={"yield_per": AT_ONCE}
    ) as result:
        for page in result.partitions():
            yield [ModelAnswer._make(row) for row in page]


def _has_verdict(wanted: Wanted) -> ColumnElement[bool]:
    return (
        select(grade_table.c.id)
        .where(grade_table.c.answer_id == answer_table.c.id)
        .where(grade_table.c.layer.in_(list(wanted.layers)))
        .where(grade_table.c.verdict == wanted.verdict)
        .exists()
    )


def _is_settled(wanted: Wanted) -> ColumnElement[bool]:
    """All its grades have a verdict, and the same one."""
    said = grade_table.c.verdict
    return (
        select(grade_table.c.answer_id)
        .where(grade_table.c.answer_id == answer_table.c.id)
        .where(grade_table.c.layer.in_(list(wanted.layers)))
        .group_by(grade_table.c.answer_id)
        .having(func.count() == func.count(said), func.min(said) == func.max(said))
        .exists()
    )
