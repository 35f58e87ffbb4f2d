"""Batches of judge requests in the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from evalbot.domain.batches import Batch, BatchState
from evalbot.store.judge_schema import batch_item_table, batch_table
from evalbot.store.schema import answer_table
from evalbot.store.texts import FEW


class BatchItem(NamedTuple):
    """One request as intended: whose answer, which reply it will be, and what grades it.

    vote: the grade to be made, but for the reply.
    """

    custom_id: str
    answer_id: int
    identity: str
    vote: Mapping[str, Any]


def add_batch(connection: Connection, batch: Batch, items: Sequence[BatchItem]) -> None:
    """Write the intent, before anything is sent."""
    connection.execute(
        insert(batch_table).values(
            id=batch.id,
            run=batch.run,
            judge=batch.judge,
            state=str(batch.state),
            provider_id=batch.provider_id,
            params=dict(batch.params),
            size=batch.size,
            created_at=batch.created_at,
        )
    )
    connection.execute(
        insert(batch_item_table),
        [{"batch": batch.id, **item._asdict(), "vote": dict(item.vote)} for item in items],
    )


def set_sent(connection: Connection, batch: str, provider_id: str) -> None:
    """The provider has it, under this id."""
    _set(connection, batch, BatchState.SENT, provider_id=provider_id, sent_at=datetime.now(UTC))


def set_fetched(connection: Connection, batch: Batch, refused: Collection[str]) -> None:
    """All its results are recorded; refused: parameters that they say are not taken."""
    params = {**batch.params, "refused": sorted(refused)}
    _set(connection, batch.id, BatchState.FETCHED, fetched_at=datetime.now(UTC), params=params)


def refused_parameters(connection: Connection, model: str) -> set[str]:
    """Parameters that earlier batches have found this model to refuse."""
    every = connection.execute(select(batch_table.c.params)).scalars()
    return {
        name
        for params in every
        if params.get("model") == model
        for name in params.get("refused", ())
    }


def open_batches(connection: Connection, run: str, judge: str) -> list[Batch]:
    """A judge's batches whose results are not all recorded, oldest first."""
    query = select(batch_table).where(
        batch_table.c.run == run,
        batch_table.c.judge == judge,
        batch_table.c.state != str(BatchState.FETCHED),
    )
    rows = connection.execute(query.order_by(batch_table.c.created_at, batch_table.c.id))
    return [
        Batch(
            id=row.id,
            run=row.run,
            judge=row.judge,
            state=BatchState(row.state),
            params=row.params,
            size=row.size,
            created_at=row.created_at,
            provider_id=row.provider_id,
        )
        for row in rows
    ]


def items_of(connection: Connection, batch: str) -> list[BatchItem]:
    """The requests of a batch in their order."""
    rows = connection.execute(
        select(
            batch_item_table.c.custom_id,
            batch_item_table.c.answer_id,
            batch_item_table.c.identity,
            batch_item_table.c.vote,
        )
        .where(batch_item_table.c.batch == batch)
        .order_by(batch_item_table.c.custom_id)
    )
    return [BatchItem._make(row) for row in rows]


def identities_in_batches(connection: Connection, run: str) -> dict[str, set[str]]:
    """By judge, what is in a batch that is not fetched: nobody else may ask for it."""
    rows = connection.execute(
        select(batch_table.c.judge, batch_item_table.c.identity)
        .join(batch_item_table, batch_item_table.c.batch == batch_table.c.id)
        .where(batch_table.c.run == run, batch_table.c.state != str(BatchState.FETCHED))
    )
    found: dict[str, set[str]] = {}
    for judge, identity in rows:
        found.setdefault(judge, set()).add(identity)
    return found


def provider_ids(connection: Connection) -> set[str]:
    """All ids of the provider's that are known to be some batch of ours."""
    query = select(batch_table.c.provider_id).where(batch_table.c.provider_id.is_not(None))
    return {one for one in connection.execute(query).scalars() if one is not None}


def texts_of_answers(connection: Connection, answers: Sequence[int]) -> dict[int, str]:
    """By row id, the texts of these answers."""
    found: dict[int, str] = {}
    for start in range(0, len(answers), FEW):
        query = select(answer_table.c.id, answer_table.c.text).where(
            answer_table.c.id.in_(answers[start : start + FEW])
        )
        found.update((id_, text) for id_, text in connection.execute(query))
    return found


def _set(connection: Connection, batch: str, state: BatchState, **values: Any) -> None:
    connection.execute(
        update(batch_table).where(batch_table.c.id == batch).values(state=str(state), **values)
    )
