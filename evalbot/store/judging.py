"""What judging reads of the record: answers page by page, and what judges said of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, cast, func, select

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.store.answers import PAGE, last_attempts
from evalbot.store.schema import answer_table, grade_table, grader_table

JUDGE = "judge"


class AnswerToJudge(NamedTuple):
    """What a judge's grade needs of an answer."""

    id: int
    place: Place
    attempt: int
    status: AnswerStatus
    text: str


class VoteSaid(NamedTuple):
    """One reply of a judge as recorded, or a call that brought none.

    token: which reply to what it is (judging/identity.py).
    """

    id: int
    answer_id: int
    token: str
    vote: int
    verdict: str | None
    unscored_reason: str | None
    checkpoints: Sequence[Mapping[str, Any]] | None
    rationale: str | None
    evidence: Mapping[str, Any] | None


class JudgeSaid(NamedTuple):
    """What a judge, or the panel, says of an answer in the end."""

    id: int
    answer_id: int
    judge: str
    verdict: str | None
    unscored_reason: str | None
    rubric_fingerprint: str
    case_fingerprint: str


def answers_to_judge(
    connection: Connection, run: str, statuses: Sequence[AnswerStatus], after: int = 0
) -> list[AnswerToJudge]:
    """The next page of a run's counting answers with these statuses, after this row."""
    query = select(
        answer_table.c.id,
        answer_table.c.case_key,
        answer_table.c.endpoint,
        answer_table.c.repeat,
        answer_table.c.pass_number,
        answer_table.c.attempt,
        answer_table.c.status,
        answer_table.c.text,
    )
    query = last_attempts(query, run).where(
        answer_table.c.id > after, answer_table.c.status.in_([str(one) for one in statuses])
    )
    rows = connection.execute(query.order_by(answer_table.c.id).limit(PAGE))
    return [
        AnswerToJudge(
            id_, Place(case, endpoint, repeat, pass_), attempt, AnswerStatus(status), text
        )
        for id_, case, endpoint, repeat, pass_, attempt, status, text in rows
    ]


def count_with_status(connection: Connection, run: str, status: AnswerStatus) -> int:
    """How many counting answers of a run ended so."""
    query = last_attempts(select(answer_table.c.id), run)
    found = connection.execute(query.where(answer_table.c.status == str(status)))
    return len(found.all())


def votes_said(connection: Connection, run: str, first: int, last: int) -> list[VoteSaid]:
    """All judges' replies to a stretch of a run's answers, oldest first."""
    rows = connection.execute(
        select(
            grade_table.c.id,
            grade_table.c.answer_id,
            grade_table.c.token,
            grade_table.c.vote,
            grade_table.c.verdict,
            grade_table.c.unscored_reason,
            grade_table.c.checkpoints,
            grade_table.c.rationale,
            grade_table.c.evidence,
        )
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.run == run)
        .where(grade_table.c.answer_id.between(first, last))
        .where(grade_table.c.layer == JUDGE)
        .where(grade_table.c.vote.is_not(None), grade_table.c.token.is_not(None))
        .order_by(grade_table.c.id)
    )
    return [VoteSaid._make(row) for row in rows]


def judges_said(
    connection: Connection, answers: Iterable[int]
) -> Mapping[int, Mapping[str, JudgeSaid]]:
    """By answer and judge, the newest grade that is no single vote; the panel's is among them."""
    found: dict[int, dict[str, JudgeSaid]] = defaultdict(dict)
    rows = connection.execute(
        select(
            grade_table.c.id,
            grade_table.c.answer_id,
            grader_table.c.name,
            grade_table.c.verdict,
            grade_table.c.unscored_reason,
            grade_table.c.rubric_fingerprint,
            grade_table.c.case_fingerprint,
        )
        .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
        .where(grade_table.c.answer_id.in_(list(answers)))
        .where(grade_table.c.layer == JUDGE, grade_table.c.vote.is_(None))
        .order_by(grade_table.c.at, grade_table.c.id)
    )
    for row in rows:
        said = JudgeSaid._make(row)
        found[said.answer_id][said.judge] = said
    return found


class JudgeUsed(NamedTuple):
    """A judge whose grades count, with what it was set to; judge: fingerprint, None: unknown."""

    name: str
    judge: str | None
    votes: int | None


def judges_used(connection: Connection, run: str) -> list[JudgeUsed]:
    """The judges, and the panel, behind the grades that count of a run, by name."""
    newest = (
        func.row_number()
        .over(
            partition_by=(grade_table.c.answer_id, grade_table.c.grader_id),
            order_by=(grade_table.c.at.desc(), grade_table.c.id.desc()),
        )
        .label("place")
    )
    # As text: PostgreSQL does not compare JSON.
    params = cast(grade_table.c.params, Text).label("params")
    placed = (
        select(grader_table.c.name, params, newest)
        .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(answer_table.c.run == run)
        .where(grade_table.c.layer == JUDGE, grade_table.c.vote.is_(None))
        .subquery()
    )
    rows = connection.execute(
        select(placed.c.name, placed.c.params).where(placed.c.place == 1).distinct()
    )
    found = set()
    for name, text in rows:
        said = json.loads(text) if text else {}
        found.add(JudgeUsed(name, said.get("judge"), said.get("votes")))
    return sorted(found, key=lambda one: (one.name, one.judge or "", one.votes or 0))


def decided_without_judge(connection: Connection, run: str) -> set[int]:
    """The counting answers of a run to which automatic scoring has given a verdict."""
    newest = (
        select(func.max(grade_table.c.id))
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(grade_table.c.layer == "auto", answer_table.c.run == run)
        .group_by(grade_table.c.answer_id)
    )
    query = select(grade_table.c.answer_id).where(
        grade_table.c.id.in_(newest), grade_table.c.verdict.is_not(None)
    )
    return set(connection.execute(query).scalars())


def left_open(connection: Connection, first: int, last: int) -> set[int]:
    """Answers of a stretch that automatic scoring left for a judge or a person."""
    newest = (
        select(func.max(grade_table.c.id))
        .where(grade_table.c.layer == "auto")
        .where(grade_table.c.answer_id.between(first, last))
        .group_by(grade_table.c.answer_id)
    )
    query = select(grade_table.c.answer_id).where(
        grade_table.c.id.in_(newest), grade_table.c.unscored_reason == "needs_review"
    )
    return set(connection.execute(query).scalars())
