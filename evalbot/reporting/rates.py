"""The per-model rate table: one row per suite, model and, where asked for, tag."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.errors import InputError, NotFoundError
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.problems import nearest
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import PANEL, VOTE_MARK, layers_behind
from evalbot.reporting.corrected_rates import corrected_rows
from evalbot.reporting.judge_coverage import judge_coverage
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.run_table import RunTable
from evalbot.store import runs
from evalbot.store.answers import glance_at_answers
from evalbot.store.database import Connection, Database
from evalbot.store.glances import glance_at_grades
from evalbot.store.judging import judges_used


def rate_rows(
    database: Database, run_ids: Sequence[str], folder: Path, query: RateQuery
) -> list[RateRow]:
    """Rates of these runs, or of the newest run of each suite.

    Rows come by suite and then from best to worst; models without a rate come last.
    Raises NotFoundError where nothing fits the query.
    """
    rows: list[RateRow] = []
    with database.read() as connection:
        chosen = chosen_runs(connection, run_ids, query.suites)
        refuse_unknown(connection, chosen, query)
        for run in chosen:
            rows += rates_of_run(connection, run, basis_of(run, folder), query)
    return rows


def chosen_runs(
    connection: Connection, run_ids: Sequence[str], suites: Sequence[str] = ()
) -> list[Run]:
    """These runs, or the newest of each suite; NotFoundError where there is none."""
    names = list(run_ids) or runs.newest_run_per_suite(connection, suites)
    if not names and not suites:
        raise NotFoundError(
            "there are no runs yet; `evalbot run SUITE` makes one, `evalbot import` brings one"
        )
    # Named twice, also by the beginning of its id, a run is one run.
    found = {run.id: run for run in (runs.get_run(connection, name) for name in names)}
    chosen = [run for run in found.values() if not suites or run.suite.name in suites]
    if not chosen:
        raise NotFoundError(f"there is no run of suite {', '.join(suites)}")
    return chosen


def rates_of_run(connection: Connection, run: Run, basis: Basis, query: RateQuery) -> list[RateRow]:
    """The rows of one run, seen in a transaction that is open already."""
    answers = list(glance_at_answers(connection, run.id))
    grades = glance_at_grades(connection, run.id, layers_behind(query.layer))
    table = RunTable(run, basis, query, answers, grades)
    if query.layer is Layer.JUDGE:
        table.coverage = judge_coverage(
            connection, run.id, answers, table.judged, table.verdicts, query.judge
        )
    rows = list(table.rows())
    if query.corrected:
        return corrected_rows(connection, run, basis, rows, query.judge)
    return rows


def refuse_unknown(connection: Connection, chosen: Sequence[Run], query: RateQuery) -> None:
    """Raises NotFoundError for a model or judge that these runs do not have."""
    known = {endpoint.name for run in chosen for endpoint in run.endpoints}
    for name in query.models:
        if name.removesuffix(CHECK_SUFFIX) not in known:
            close = nearest(name, known)
            hint = f"did you mean {close}?" if close else f"there are: {', '.join(sorted(known))}"
            raise NotFoundError(f"no model {name!r} in these runs; {hint}")
    if query.judge is not None and query.layer is not Layer.JUDGE:
        raise InputError("--judge goes with --layer judge")
    if query.corrected and query.judge is not None and VOTE_MARK in query.judge:
        raise InputError(f"--judge {query.judge}: a single vote is not corrected; name the judge")
    if query.judge is not None:
        _refuse_unknown_judge(connection, chosen, query.judge)


def _refuse_unknown_judge(connection: Connection, chosen: Sequence[Run], judge: str) -> None:
    known = {one.name for run in chosen for one in judges_used(connection, run.id)}
    if len(known - {PANEL}) > 1:
        known.add(PANEL)
    if judge.partition(VOTE_MARK)[0] not in known:
        there = f"there are: {', '.join(sorted(known))}" if known else "nothing was judged yet"
        raise NotFoundError(f"no judge {judge!r} has graded these runs; {there}")
