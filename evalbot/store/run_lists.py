"""Runs in the record as lists: what each is called, how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, func, select

from evalbot.domain.runs import RunState
from evalbot.store.schema import (
    RunCaseColumns,
    RunEndpointColumns,
    answer_table,
    grade_table,
    run_case_table,
    run_endpoint_table,
    run_table,
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A line of `evalbot runs`; answers counts the places that have one."""

    run: str
    suite: str
    label: str | None
    state: RunState
    endpoints: int
    cases: int
    repeats: int
    answers: int
    unscored: int | None
    started_at: datetime


def list_runs(connection: Connection, *, count_unscored: bool = True) -> list[RunSummary]:
    """All runs, newest first. Unscored: places without a verdict of the automatic layer.

    count_unscored: without it that is None, and large records are listed much faster.
    """
    answers = _count_answers(connection)
    scored = _count_scored(connection) if count_unscored else None
    endpoints = _count(connection, run_endpoint_table)
    cases = _count(connection, run_case_table)
    rows = connection.execute(
        select(run_table).order_by(run_table.c.started_at.desc(), run_table.c.id)
    ).all()
    return [
        RunSummary(
            run=row.id,
            suite=row.suite,
            label=row.label,
            state=RunState(row.state),
            endpoints=endpoints.get(row.id, 0),
            cases=cases.get(row.id, 0),
            repeats=row.repeats,
            answers=answers.get(row.id, 0),
            unscored=None if scored is None else answers.get(row.id, 0) - scored.get(row.id, 0),
            started_at=row.started_at,
        )
        for row in rows
    ]


class RunName(NamedTuple):
    """What a run is called."""

    run: str
    suite: str
    label: str | None
    started_at: datetime


def run_names(connection: Connection) -> list[RunName]:
    """All runs, newest first, without counting their answers."""
    query = select(run_table.c.id, run_table.c.suite, run_table.c.label, run_table.c.started_at)
    rows = connection.execute(query.order_by(run_table.c.started_at.desc(), run_table.c.id))
    return [RunName._make(row) for row in rows]


class GradedRun(NamedTuple):
    """A run that somebody or something else than the automatic scorer has graded."""

    run: str
    suite: str
    label: str | None
    started_at: datetime
    by_judge: bool
    by_people: bool


def graded_runs(connection: Connection) -> list[GradedRun]:
    """The runs that a judge or people have graded, newest first."""

    def has(layer: str) -> ColumnElement[bool]:
        # Answer by answer in the index, and no further than to the first one.
        return (
            select(grade_table.c.id)
            .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
            .where(answer_table.c.run == run_table.c.id, grade_table.c.layer == layer)
            .exists()
        )

    query = select(
        run_table.c.id, run_table.c.suite, run_table.c.label, run_table.c.started_at,
        has("judge"), has("human"),
    ).order_by(run_table.c.started_at.desc(), run_table.c.id)  # fmt: skip
    found = [GradedRun(*row[:4], bool(row[4]), bool(row[5])) for row in connection.execute(query)]
    return [one for one in found if one.by_judge or one.by_people]


def earlier_runs(connection: Connection, run: str) -> list[RunName]:
    """Runs of the same suite with a model in common that began before this one, newest first."""
    this, other = run_table.alias(), run_endpoint_table.alias()
    in_common = (
        select(other.c.name)
        .join(run_endpoint_table, run_endpoint_table.c.name == other.c.name)
        .where(other.c.run == run, run_endpoint_table.c.run == run_table.c.id)
        .exists()
    )
    query = (
        select(run_table.c.id, run_table.c.suite, run_table.c.label, run_table.c.started_at)
        .join(this, (this.c.suite == run_table.c.suite) & (this.c.id == run))
        .where(run_table.c.started_at < this.c.started_at, in_common)
        .order_by(run_table.c.started_at.desc(), run_table.c.id)
    )
    return [RunName._make(row) for row in connection.execute(query)]


def running_runs(connection: Connection) -> list[tuple[str, str | None]]:
    """Ids and labels of the runs that a process has said it works on, the oldest first."""
    query = (
        select(run_table.c.id, run_table.c.label)
        .where(run_table.c.state == RunState.RUNNING, run_table.c.lease_token.is_not(None))
        .order_by(run_table.c.started_at, run_table.c.id)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def count_places(connection: Connection, run: str) -> dict[str, int]:
    """By endpoint, in order, at how many places of a run there is an answer; from an index."""
    query = (
        select(run_endpoint_table.c.name, func.count(answer_table.c.attempt))
        .outerjoin(
            answer_table,
            (answer_table.c.run == run_endpoint_table.c.run)
            & (answer_table.c.endpoint == run_endpoint_table.c.name)
            & (answer_table.c.attempt == 1),
        )
        .where(run_endpoint_table.c.run == run)
        .group_by(run_endpoint_table.c.name, run_endpoint_table.c.position)
        .order_by(run_endpoint_table.c.position)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def count_wanted(connection: Connection, run: str) -> int:
    """How many places each endpoint of a run has in its first pass."""
    cases = select(func.count()).select_from(run_case_table).where(run_case_table.c.run == run)
    repeats = select(run_table.c.repeats).where(run_table.c.id == run)
    return connection.execute(cases).scalar_one() * connection.execute(repeats).scalar_one()


def _count(
    connection: Connection, table: Table[RunCaseColumns] | Table[RunEndpointColumns]
) -> Mapping[str, int]:
    rows = connection.execute(select(table.c.run, func.count()).group_by(table.c.run))
    return {row[0]: row[1] for row in rows}


def _count_answers(connection: Connection) -> dict[str, int]:
    """By run, at how many places there is an answer; from an index."""
    rows = connection.execute(
        select(answer_table.c.run, func.count())
        .where(answer_table.c.attempt == 1)
        .group_by(answer_table.c.run)
    )
    return {row[0]: row[1] for row in rows}


def _count_scored(connection: Connection) -> dict[str, int]:
    """By run, how many counting answers have a verdict of the automatic layer."""
    last = (
        select(func.max(answer_table.c.id).label("id"), answer_table.c.run)
        .group_by(
            answer_table.c.run,
            answer_table.c.endpoint,
            answer_table.c.case_key,
            answer_table.c.repeat,
            answer_table.c.pass_number,
        )
        .subquery()
    )
    # Looked up answer by answer in the index: grouped first, SQLite would do it again for each.
    verdict = (
        select(grade_table.c.verdict)
        .where(grade_table.c.answer_id == last.c.id, grade_table.c.layer == "auto")
        .order_by(grade_table.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    rows = connection.execute(select(last.c.run, func.count(verdict)).group_by(last.c.run))
    return {row[0]: row[1] for row in rows}
