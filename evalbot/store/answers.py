"""Answers in the record. Of the attempts at one place the last one counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVarTuple

from sqlalchemy import Connection, Row, Select, insert, select

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.domain.runs import RecordedAnswer
from evalbot.store.answer_values import answer_from, answer_values
from evalbot.store.schema import answer_table, run_table

PAGE = 2_000
STREAMED = MappingProxyType({"yield_per": PAGE})
"""Options of a query whose rows are taken page by page."""

Columns = TypeVarTuple("Columns")


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a place stands: its last attempt and how that ended."""

    attempt: int
    status: AnswerStatus


def add_answers(connection: Connection, run: str, answers: Sequence[RecordedAnswer]) -> list[int]:
    """Write answers; their row ids, in order."""
    statement = insert(answer_table).returning(answer_table.c.id, sort_by_parameter_order=True)
    rows = [_row(run, recorded) for recorded in answers]
    return list(connection.execute(statement, rows).scalars()) if rows else []


def places_asked(connection: Connection, run: str, endpoint: str) -> dict[Place, Asked]:
    """Every place of an endpoint that has an answer."""
    rows = connection.execute(
        select(
            answer_table.c.case_key,
            answer_table.c.repeat,
            answer_table.c.pass_number,
            answer_table.c.attempt,
            answer_table.c.status,
        )
        .where(answer_table.c.run == run, answer_table.c.endpoint == endpoint)
        .order_by(answer_table.c.attempt)
    )
    return {
        Place(row.case_key, endpoint, row.repeat, row.pass_number): Asked(
            row.attempt, AnswerStatus(row.status)
        )
        for row in rows
    }


def text_at(connection: Connection, run: str, place: Place) -> str:
    """The text of the counting answer at a place that has one."""
    query = (
        select(answer_table.c.text)
        .where(answer_table.c.run == run, answer_table.c.endpoint == place.endpoint)
        .where(answer_table.c.case_key == place.case, answer_table.c.repeat == place.repeat)
        .where(answer_table.c.pass_number == place.pass_)
        .order_by(answer_table.c.attempt.desc())
        .limit(1)
    )
    return connection.execute(query).scalar_one()


def attempts_of(connection: Connection, run: str) -> dict[int, int]:
    """By row id, which attempt each answer of a run is."""
    query = select(answer_table.c.id, answer_table.c.attempt).where(answer_table.c.run == run)
    return dict(connection.execute(query).all())


class AnswerToScore(NamedTuple):
    """What the automatic scorer needs of an answer."""

    id: int
    place: Place
    status: AnswerStatus
    text: str


def answers_to_score(connection: Connection, run: str) -> Iterator[list[AnswerToScore]]:
    """The counting answers of a run in pages, so that a large run stays small in memory."""
    query = select(
        answer_table.c.id,
        answer_table.c.case_key,
        answer_table.c.endpoint,
        answer_table.c.repeat,
        answer_table.c.pass_number,
        answer_table.c.status,
        answer_table.c.text,
    ).order_by(answer_table.c.id)
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    for page in result.partitions():
        yield [
            AnswerToScore(id_, Place(case, endpoint, repeat, pass_), AnswerStatus(status), text)
            for id_, case, endpoint, repeat, pass_, status, text in page
        ]


class AnswerToReview(NamedTuple):
    """What drawing a review needs of an answer."""

    id: int
    case: str
    endpoint: str
    repeat: int


def answers_to_review(connection: Connection, run: str) -> list[AnswerToReview]:
    """The counting answers of a run that people can grade, in the order they were given.

    Those are answers with a text that is whole, or was cut off; self-checks are left out.
    """
    query = (
        select(
            answer_table.c.id,
            answer_table.c.case_key,
            answer_table.c.endpoint,
            answer_table.c.repeat,
        )
        .where(answer_table.c.status.in_([str(AnswerStatus.OK), str(AnswerStatus.TRUNCATED)]))
        .where(answer_table.c.pass_number == 1)
        .order_by(answer_table.c.id)
    )
    rows = connection.execute(last_attempts(query, run))
    return [AnswerToReview._make(row) for row in rows]


def texts_of(connection: Connection, answers: Sequence[int]) -> Iterator[tuple[int, str, str]]:
    """Row id, case and text of these answers."""
    for start in range(0, len(answers), PAGE):
        rows = connection.execute(
            select(answer_table.c.id, answer_table.c.case_key, answer_table.c.text).where(
                answer_table.c.id.in_(list(answers[start : start + PAGE]))
            )
        )
        for row in rows:
            yield row[0], row[1], row[2]


def last_attempts(query: Select[*Columns], run: str) -> Select[*Columns]:
    """Restrict a query on answers to the counting answers of a run."""
    later = answer_table.alias()
    return query.where(answer_table.c.run == run).where(
        ~select(later.c.id)
        .where(
            later.c.run == answer_table.c.run,
            later.c.endpoint == answer_table.c.endpoint,
            later.c.case_key == answer_table.c.case_key,
            later.c.repeat == answer_table.c.repeat,
            later.c.pass_number == answer_table.c.pass_number,
            later.c.attempt > answer_table.c.attempt,
        )
        .exists()
    )


class AnswerGlance(NamedTuple):
    """What a rate needs of an answer besides its grades."""

    id: int
    case: str
    endpoint: str
    repeat: int
    pass_: int
    status: str
    ttfot_ms: float | None
    decode_tps: float | None
    timing_source: str
    total_ms: float | None


def glance_at_answers(connection: Connection, run: str) -> Iterator[AnswerGlance]:
    """The counting answers of a run, without their texts."""
    query = select(
        answer_table.c.id,
        answer_table.c.case_key,
        answer_table.c.endpoint,
        answer_table.c.repeat,
        answer_table.c.pass_number,
        answer_table.c.status,
        answer_table.c.ttfot_ms,
        answer_table.c.decode_tps,
        answer_table.c.timing_source,
        answer_table.c.total_ms,
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return (AnswerGlance._make(row) for page in result.partitions() for row in page)


def read_answers(
    connection: Connection,
    run: str,
    *,
    endpoints: Sequence[str] = (),
    cases: Sequence[str] = (),
    statuses: Sequence[AnswerStatus] = (),
    all_attempts: bool = False,
) -> Iterator[tuple[int, RecordedAnswer]]:
    """Whole answers with their row ids, by endpoint, case, repeat, pass and attempt."""
    query = select(answer_table)
    query = query.where(answer_table.c.run == run) if all_attempts else last_attempts(query, run)
    if endpoints:
        query = query.where(answer_table.c.endpoint.in_(endpoints))
    if cases:
        query = query.where(answer_table.c.case_key.in_(cases))
    if statuses:
        query = query.where(answer_table.c.status.in_([str(status) for status in statuses]))
    query = query.order_by(
        answer_table.c.endpoint,
        answer_table.c.case_key,
        answer_table.c.repeat,
        answer_table.c.pass_number,
        answer_table.c.attempt,
    )
    result = connection.execute(query, execution_options=STREAMED)
    for row in result:
        yield row.id, _recorded(row)


def answer_of(
    connection: Connection, run: str, answer_id: int, *, lock: bool = False
) -> RecordedAnswer | None:
    """The answer of this row, if it is of this run; lock: until the transaction ends."""
    query = select(answer_table).where(answer_table.c.id == answer_id, answer_table.c.run == run)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _recorded(row)


def _row(run: str, recorded: RecordedAnswer) -> dict[str, Any]:
    place = recorded.place
    return {
        "run": run,
        "endpoint": place.endpoint,
        "case_key": place.case,
        "repeat": place.repeat,
        "pass_number": place.pass_,
        "attempt": recorded.attempt,
        "question": recorded.question_fingerprint,
        "model_fingerprint": recorded.model_fingerprint,
        **answer_values(recorded.answer),
    }


def _recorded(row: Row[Any]) -> RecordedAnswer:
    return RecordedAnswer(
        place=Place(row.case_key, row.endpoint, row.repeat, row.pass_number),
        attempt=row.attempt,
        question_fingerprint=row.question,
        model_fingerprint=row.model_fingerprint,
        answer=answer_from(row),
    )


def mean_total_ms(connection: Connection, endpoint: str, suite: str) -> float | None:
    """Mean time of an endpoint's newest answers, to this suite if there are any; None without."""
    query = (
        select(answer_table.c.total_ms)
        .where(answer_table.c.endpoint == endpoint, answer_table.c.total_ms.is_not(None))
        .order_by(answer_table.c.id.desc())
        .limit(PAGE)
    )
    here = query.join(run_table, run_table.c.id == answer_table.c.run)
    for one in (here.where(run_table.c.suite == suite), query):
        times = [time for time in connection.execute(one).scalars() if time is not None]
        if times:
            return fmean(times)
    return None
