"""`evalbot score`: score stored answers again."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_site

EXAMPLE = "Example: evalbot score translation-20261130-7f3a1c"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("score", epilog=EXAMPLE)(score)


def score(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to score again.")],
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Score the stored answers of RUN by today's suite and rubric, without asking any model.

    Earlier grades stay in the record; the new ones count.
    """
    from rich.console import Console

    from evalbot.cli.rate_table import print_summary
    from evalbot.grading.rescore import rescore

    console = Console(stderr=True)
    with open_site(config, database) as (settings, opened):
        with console.status("scoring") as status:
            result = rescore(
                opened,
                run,
                settings.folder,
                lambda done: status.update(f"scoring: {done} answers"),
            )
        typer.echo(
            f"{result.answers} answers scored, {result.written} grades new, "
            f"{result.changed} verdicts changed",
            err=True,
        )
        if result.basis.changed:
            typer.echo(
                f"{len(result.basis.changed)} cases ask something else now, or are gone from the "
                "suite: they were scored by their recorded text",
                err=True,
            )
        print_summary(opened, result.run, result.basis)
