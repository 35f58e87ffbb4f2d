"""`evalbot plan`: what the next reviews would bring."""

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
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list

EXAMPLE = "Example: evalbot plan translation-20261201-7f3a1c --budget 120"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan", epilog=EXAMPLE)(plan)


def plan(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A judged run.")],
    budget: Annotated[
        int, typer.Option(help="So many more answers in all, spread evenly over the models.")
    ] = 100,
    judge: Annotated[
        str | None, typer.Option(help="One judge.  [default: the panel, or the only one]")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(help="Two models whose difference matters: the budget goes to these alone."),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Tell how narrow the corrected rates would get, before anyone grades.

    For each policy of `evalbot assign` the width to expect, from what was graded so far, or from
    an assumption where nothing was; and in which answers further reviews tell most.
    """
    from evalbot.auditing.planning import plan_reviews
    from evalbot.reporting.plan_tables import plan_tables, plan_values

    chosen = choose_format(form, output)
    with open_site(config, database) as (settings, opened):
        found = plan_reviews(opened, run, settings.folder, budget, judge, split_list(compare))
    if chosen == "json":
        write_values(plan_values(found), output=output)
    elif chosen in PEOPLE_FORMATS:
        write_tables(*plan_tables(found), form=chosen, output=output)
    else:
        write_tables(plan_tables(found)[0], form=chosen, output=output)
