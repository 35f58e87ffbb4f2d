"""Runs in the record: made, found, listed, extended, brought to an end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from evalbot.domain.cases import Suite
from evalbot.domain.json_form import (
    case_from_json,
    case_to_json,
    rubric_from_json,
    rubric_to_json,
    suite_from_json,
    suite_to_json,
)
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.errors import InputError, NotFoundError
from evalbot.store.schema import (
    run_case_table,
    run_endpoint_table,
    run_table,
)
from evalbot.store.texts import get_texts, put_texts


def create_run(connection: Connection, run: Run) -> None:
    """Write a new run with its texts, cases and endpoints."""
    [suite_text] = put_texts(connection, "suite", [suite_to_json(run.suite)])
    [rubric_text] = put_texts(connection, "rubric", [rubric_to_json(run.rubric)])
    texts = put_texts(connection, "case", [case_to_json(case) for case in run.suite.cases])
    connection.execute(
        insert(run_table).values(
            id=run.id,
            suite=run.suite.name,
            suite_text=suite_text,
            rubric_text=rubric_text,
            label=run.label,
            state=str(run.state),
            repeats=run.repeats,
            settings=dict(run.settings),
            version=run.version,
            import_key=run.import_key,
            started_at=run.started_at,
            finished_at=run.finished_at,
        )
    )
    connection.execute(
        insert(run_case_table),
        [
            {
                "run": run.id,
                "case_key": case.key,
                "position": position,
                "question": run.questions[case.key],
                "text": text,
            }
            for position, (case, text) in enumerate(zip(run.suite.cases, texts, strict=True))
        ],
    )
    add_endpoints(connection, run.id, run.endpoints, 0)


def add_endpoints(
    connection: Connection, run: str, endpoints: Sequence[RunEndpoint], position: int
) -> None:
    """Write endpoints of a run, the first at this position."""
    if endpoints:
        connection.execute(
            insert(run_endpoint_table),
            [
                {**asdict(endpoint), "run": run, "position": position + index}
                for index, endpoint in enumerate(endpoints)
            ],
        )


def update_endpoint(connection: Connection, run: str, endpoint: RunEndpoint) -> None:
    """Write what has been learned of an endpoint: model, slots, why it was stopped."""
    connection.execute(
        update(run_endpoint_table)
        .where(run_endpoint_table.c.run == run, run_endpoint_table.c.name == endpoint.name)
        .values(**asdict(endpoint))
    )


def set_state(
    connection: Connection, run: str, state: RunState, finished_at: datetime | None = None
) -> None:
    """Write how far a run has come."""
    connection.execute(
        update(run_table)
        .where(run_table.c.id == run)
        .values(state=str(state), finished_at=finished_at)
    )


def set_repeats(connection: Connection, run: str, repeats: int) -> None:
    """Extend a run to this many repeats."""
    connection.execute(update(run_table).where(run_table.c.id == run).values(repeats=repeats))


def set_setting(connection: Connection, run: Run, name: str, value: Any) -> None:
    """Write one of a run's settings."""
    settings = {**run.settings, name: value}
    if settings != run.settings:
        connection.execute(
            update(run_table).where(run_table.c.id == run.id).values(settings=settings)
        )


def set_grading(connection: Connection, run: str, suite: Suite, rubric: Rubric) -> None:
    """Write the texts a run is graded by from now on; the questions stay as asked."""
    [rubric_text] = put_texts(connection, "rubric", [rubric_to_json(rubric)])
    connection.execute(
        update(run_table).where(run_table.c.id == run).values(rubric_text=rubric_text)
    )
    texts = put_texts(connection, "case", [case_to_json(case) for case in suite.cases])
    query = select(run_case_table.c.case_key, run_case_table.c.text).where(
        run_case_table.c.run == run
    )
    before: dict[str, str] = {row[0]: row[1] for row in connection.execute(query)}
    for case, text in zip(suite.cases, texts, strict=True):
        if before[case.key] != text:
            connection.execute(
                update(run_case_table)
                .where(run_case_table.c.run == run, run_case_table.c.case_key == case.key)
                .values(text=text)
            )


def get_run(connection: Connection, run_id: str) -> Run:
    """The run of this id, a suite's newest, or the only one whose id begins so.

    NotFoundError where there is none, InputError where a beginning fits several.
    """
    row = _find(connection, run_id)
    cases = connection.execute(
        select(run_case_table.c.case_key, run_case_table.c.question, run_case_table.c.text)
        .where(run_case_table.c.run == row.id)
        .order_by(run_case_table.c.position)
    ).all()
    texts = get_texts(connection, [row.suite_text, row.rubric_text, *(one.text for one in cases)])
    suite = suite_from_json(
        texts[row.suite_text], tuple(case_from_json(texts[one.text]) for one in cases)
    )
    return Run(
        id=row.id,
        suite=suite,
        rubric=rubric_from_json(texts[row.rubric_text]),
        questions={one.case_key: one.question for one in cases},
        state=RunState(row.state),
        repeats=row.repeats,
        started_at=row.started_at,
        finished_at=row.finished_at,
        label=row.label,
        endpoints=_endpoints(connection, row.id),
        version=row.version,
        import_key=row.import_key,
        settings=row.settings,
    )


def refresh(connection: Connection, run: Run) -> Run:
    """A run as read before, with what changes while it is worked on: state and endpoints."""
    query = select(run_table.c.state, run_table.c.finished_at).where(run_table.c.id == run.id)
    row = connection.execute(query).one()
    return replace(
        run,
        state=RunState(row.state),
        finished_at=row.finished_at,
        endpoints=_endpoints(connection, run.id),
    )


def has_run(connection: Connection, run_id: str) -> bool:
    """Whether there is a run of exactly this id."""
    query = select(run_table.c.id).where(run_table.c.id == run_id)
    return connection.execute(query).scalar_one_or_none() is not None


def run_imported_as(connection: Connection, import_key: str) -> str | None:
    """The run that this import made, if it came in before."""
    return connection.execute(
        select(run_table.c.id).where(run_table.c.import_key == import_key)
    ).scalar_one_or_none()


def newest_run_per_suite(connection: Connection, suites: Sequence[str] = ()) -> list[str]:
    """Ids of the newest run of each suite, suites in the order of their names."""
    newest: dict[str, str] = {}
    query = select(run_table.c.suite, run_table.c.id).order_by(
        run_table.c.started_at, run_table.c.id
    )
    for row in connection.execute(query):
        newest[row.suite] = row.id
    return [newest[suite] for suite in sorted(newest) if not suites or suite in suites]


def _find(connection: Connection, run_id: str) -> Row[Any]:
    row = connection.execute(select(run_table).where(run_table.c.id == run_id)).one_or_none()
    if row is not None:
        return row
    newest = connection.execute(
        select(run_table)
        .where(run_table.c.suite == run_id)
        .order_by(run_table.c.started_at.desc(), run_table.c.id.desc())
        .limit(1)
    ).one_or_none()
    if newest is not None:
        return newest
    like = connection.execute(
        select(run_table.c.id).where(run_table.c.id.startswith(run_id, autoescape=True)).limit(10)
    ).scalars()
    names = list(like)
    if len(names) == 1 and run_id:
        return connection.execute(select(run_table).where(run_table.c.id == names[0])).one()
    if len(names) > 1:
        raise InputError(f"run {run_id!r} fits several runs: {', '.join(names)}; type one whole")
    raise NotFoundError(f"there is no run {run_id!r}; `evalbot runs` lists them")


def _endpoints(connection: Connection, run: str) -> tuple[RunEndpoint, ...]:
    rows = connection.execute(
        select(run_endpoint_table)
        .where(run_endpoint_table.c.run == run)
        .order_by(run_endpoint_table.c.position, run_endpoint_table.c.name)
    ).mappings()
    names = RunEndpoint.__dataclass_fields__
    return tuple(
        RunEndpoint(**{name: value for name, value in row.items() if name in names}) for row in rows
    )
