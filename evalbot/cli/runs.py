"""`evalbot runs`: what is in the record."""

from __future__ import annotations

import typer

from evalbot.cli.output import FormatOption, OutputOption, choose_format, write_tables
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site

EXAMPLE = "Example: evalbot runs --format json"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("runs", epilog=EXAMPLE)(runs)


def runs(
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """List the runs, newest first."""
    from evalbot.reporting.runs import runs_table

    with open_site(config, database) as (_, opened):
        table = runs_table(opened)
    write_tables(table, form=choose_format(form, output), output=output)
