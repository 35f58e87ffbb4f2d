"""`evalbot export`: a run as a folder that can be checked and taken in elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_site

EXAMPLE = "Example: evalbot export my-suite-20261130-7f3a1c --output exported"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export", epilog=EXAMPLE)(export)


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to export.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="A new or empty folder.")
    ],
    names: Annotated[
        bool, typer.Option("--names", help="Reviewers by their names, not by pseudonyms.")
    ] = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write everything needed to check RUN's result elsewhere into DIR.

    Answers, grades, reviews, rates, the suite and the rubric, with checksums; no secrets,
    no addresses, and no names unless asked for. `evalbot import run DIR` takes it in again.
    """
    from evalbot.transfer.export import export_run

    with open_site(config, database) as (settings, opened):
        whole = export_run(opened, settings, run, output, names=names)
    typer.echo(f"wrote {whole} to {output}", err=True)
