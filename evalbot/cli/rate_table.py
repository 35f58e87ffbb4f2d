"""The rate table as a run prints it at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from evalbot.store.database import Database


def print_summary(database: Database, runs: Sequence[str], folder: Path) -> None:
    """Rates of the automatic layer on stderr; the data itself is `evalbot rates`' to print."""
    from evalbot.formats.tables import render
    from evalbot.reporting.rate_table import people_table
    from evalbot.reporting.rates import RateQuery, rate_rows

    rows = rate_rows(database, runs, folder, RateQuery())
    typer.echo(render(people_table(rows), "md").decode(), err=True)
