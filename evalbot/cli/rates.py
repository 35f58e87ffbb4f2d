"""`evalbot rates`: the per-model rate table."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.output import (
    PEOPLE_FORMATS,
    FormatOption,
    OutputOption,
    choose_format,
    write_tables,
)
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list, word_of
from evalbot.errors import InputError

EXAMPLE = "Example: evalbot rates --suite translation --format html --output rates.html"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rates", epilog=EXAMPLE)(rates)


def rates(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Runs.  [default: the newest of each suite]"),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="Only these suites.")] = None,
    layer: Annotated[
        str | None,
        typer.Option(
            help="Whose grades: auto, judge, human, adjudicated, or corrected (the judge's, "
            "corrected by people's on a drawn sample).  [default: auto; judge with --judge]"
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="One judge of the judge layer.  [default: the majority]")
    ] = None,
    by: Annotated[str | None, typer.Option(help="`tag`: a row per model and tag.")] = None,
    models: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Print the rate of each model with n, what is unscored, and a 95 % interval.

    csv and json carry fractions and every column; the other formats percentages, rounded
    half up. Rates without RUN are those of the newest run of each suite.
    """
    from evalbot.domain.rubrics import Layer
    from evalbot.formats.problems import shown
    from evalbot.reporting.corrected_rates import LAYER
    from evalbot.reporting.rate_rows import RateQuery
    from evalbot.reporting.rate_table import machine_table, people_tables
    from evalbot.reporting.rates import rate_rows

    layer = layer or ("auto" if judge is None else "judge")
    word_of("--layer", layer, [*Layer, LAYER])
    corrected = layer == LAYER
    if by not in (None, "tag"):
        raise InputError(f"--by: found {shown(by)}; expected tag")
    if corrected and by == "tag":
        raise InputError("--by tag: corrected rates are of whole suites; few tags have the reviews")
    query = RateQuery(
        layer=Layer.JUDGE if corrected else Layer(layer),
        judge=judge,
        by_tag=by == "tag",
        models=split_list(models),
        suites=split_list(suite),
        corrected=corrected,
    )
    chosen = choose_format(form, output)
    with open_site(config, database) as (settings, opened):
        rows = rate_rows(opened, runs or [], settings.folder, query)
    if chosen in PEOPLE_FORMATS:
        # LaTeX has no fonts for the signs of verdicts.
        tables = people_tables(rows, symbols=chosen != "latex")
    else:
        tables = [machine_table(rows)]
        for note in dict.fromkeys(note for row in rows for note in row.notes):
            typer.echo(f"note: {note}", err=True)
    write_tables(*tables, form=chosen, output=output)
