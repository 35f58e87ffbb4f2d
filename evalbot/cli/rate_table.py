"""The rate table as a run prints it at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from evalbot.domain.cases import Suite
    from evalbot.domain.rubrics import Rubric
    from evalbot.store.database import Database


def print_summary(database: Database, run_id: str, suite: Suite, rubric: Rubric) -> None:
    """Rates of the automatic layer on stderr, by the texts the run was just graded by."""
    from evalbot.formats.tables import render
    from evalbot.grading.basis import Basis
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import RateQuery, rates_of_run
    from evalbot.store.runs import get_run

    with database.read() as connection:
        # As recorded by now: which models were met is only known since they were asked.
        run = get_run(connection, run_id)
        rows = rates_of_run(connection, run, Basis(suite, rubric), RateQuery())
    typer.echo(render(*people_tables(rows), form="md").decode(), err=True)
