"""`evalbot compare`: which models the data can tell apart."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.output import (
    PEOPLE_FORMATS,
    FormatOption,
    OutputOption,
    choose_format,
    write_tables,
    write_values,
)
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, word_of

EXAMPLE = "Example: evalbot compare translation-20261201-7f3a1c --layer judge"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", epilog=EXAMPLE)(compare)


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="A run; or two of the same models, a retest."),
    ],
    layer: Annotated[
        str | None,
        typer.Option(
            help="Whose grades: auto, judge, human or adjudicated.  [default: auto; judge with "
            "--judge]"
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="One judge of the judge layer.  [default: the majority]")
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Compare every pair of models on the same cases, and tell which differences are real.

    An exact paired test, adjusted for the number of pairs; the probability of each rank; how
    many changed verdicts would swap two models. With two runs, each model is compared with
    itself, and the answers whose verdict changed stand side by side.
    """
    from evalbot.auditing.comparing import compare as compare_runs
    from evalbot.domain.rubrics import Layer
    from evalbot.reporting.compare_tables import (
        comparison_tables,
        comparison_values,
        pairs_machine_table,
    )

    layer = layer or ("auto" if judge is None else "judge")
    word_of("--layer", layer, list(Layer))
    chosen = choose_format(form, output)
    with open_site(config, database) as (settings, opened):
        found = compare_runs(opened, runs, settings.folder, Layer(layer), judge)
    if chosen == "json":
        write_values(comparison_values(found), output=output)
    elif chosen in PEOPLE_FORMATS:
        write_tables(*comparison_tables(found), form=chosen, output=output)
    else:
        write_tables(pairs_machine_table(found), form=chosen, output=output)
        for note in found.notes:
            typer.echo(f"note: {note}", err=True)
