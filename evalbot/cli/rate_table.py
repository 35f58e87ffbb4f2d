"""The rate table as a run prints it at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from evalbot.domain.runs import Run
    from evalbot.grading.basis import Basis
    from evalbot.store.database import Database


def print_summary(database: Database, run: Run, basis: Basis) -> None:
    """Rates of the automatic layer on stderr, by the texts the run was just graded by."""
    from evalbot.formats.tables import render
    from evalbot.reporting.rate_rows import RateQuery
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import rates_of_run
    from evalbot.store.runs import refresh

    with database.read() as connection:
        # Which models were met is only known since they were asked.
        rows = rates_of_run(connection, refresh(connection, run), basis, RateQuery())
    typer.echo(render(*people_tables(rows), form="md").decode(), err=True)
