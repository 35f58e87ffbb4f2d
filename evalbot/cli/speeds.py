"""`evalbot speeds`: the speed table, own and imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.output import (
    PEOPLE_FORMATS,
    FormatOption,
    OutputOption,
    choose_format,
    write_tables,
)
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list
from evalbot.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalbot.domain.settings import Config
    from evalbot.domain.speed import SpeedRow
    from evalbot.speed.results import SpeedQuery
    from evalbot.store.database import Database

EXAMPLE = "Example: evalbot speeds --models qwen,gemma --figures figures"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("speeds", epilog=EXAMPLE)(speeds)


def speeds(
    sweeps: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Only these sweeps and imports.  [default: all]"),
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="ID", help="Leave these sweeps and imports out.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Only these labels.")] = None,
    models: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    hardware: Annotated[str | None, typer.Option(help="Only these machines.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Only from evalbot, llama-bench, vllm-bench or table.")
    ] = None,
    status: Annotated[
        str | None, typer.Option(help="Only rows of these statuses, for example ok,suspect.")
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Machines down, models and tests across, tok/s inside.")
    ] = False,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also draw figures into this folder, as PNG and SVG."),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Print what was measured and imported: times to the first token, rates, cost, failures.

    Rows out of line with their neighbours are flagged with the evidence, and drawn apart
    from the lines. docs/speed.md tells what each column means.
    """
    from evalbot.speed.results import SpeedQuery

    query = SpeedQuery(
        sweeps=tuple(sweeps or ()),
        without=split_list(without),
        labels=split_list(label),
        models=split_list(models),
        hardware=split_list(hardware),
        sources=_known("--source", split_list(source)),
        statuses=_known("--status", split_list(status)),
    )
    chosen = choose_format(form, output)
    with open_site(config, database) as (settings, opened):
        rows = print_speeds(opened, settings, query, chosen, output, wide=wide)
        if figures is not None:
            _draw(opened, settings, rows, query.models, figures)


def print_speeds(
    opened: Database,
    settings: Config,
    query: SpeedQuery,
    form: str,
    output: Path | None,
    *,
    wide: bool = False,
) -> Sequence[SpeedRow]:
    """Write the speed table of a query, and give its rows; notes go to stderr beside csv."""
    from evalbot.reporting.speed_table import machine_table, people_tables, wide_table
    from evalbot.speed.results import speed_results

    results = speed_results(opened, settings, query)
    if wide:
        tables = [wide_table(results.rows, results.notes)]
    elif form in PEOPLE_FORMATS:
        tables = people_tables(results.rows, results.notes)
    else:
        tables = [machine_table(results.rows)]
    if form not in PEOPLE_FORMATS:
        for note in tables[0].notes or results.notes:
            typer.echo(f"note: {note}", err=True)
    write_tables(*tables, form=form, output=output)
    return results.rows


def _draw(
    opened: Database,
    settings: Config,
    rows: Sequence[SpeedRow],
    models: Sequence[str],
    folder: Path,
) -> None:
    from evalbot.reporting.figures import write_figures
    from evalbot.reporting.speed_charts import speed_charts

    charts = speed_charts(opened, settings, rows, models)
    if not charts:
        typer.echo("no figures: nothing to draw in these rows", err=True)
        return
    for path in write_figures(folder, charts):
        typer.echo(f"wrote {path}", err=True)


def _known(option: str, words: Sequence[str]) -> tuple[str, ...]:
    from evalbot.domain.speed import SpeedSource, SpeedStatus
    from evalbot.formats.problems import one_of, shown

    choices = [str(word) for word in (SpeedSource if option == "--source" else SpeedStatus)]
    for word in words:
        if word not in choices:
            raise InputError(f"{option}: found {shown(word)}; expected {one_of(choices, word)}")
    return tuple(words)
