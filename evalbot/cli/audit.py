"""`evalbot audit`: judge against people."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.output import OutputOption, choose_of, write_tables, write_values
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, word_of
from evalbot.errors import InputError

EXAMPLE = "Example: evalbot audit translation-20261201-7f3a1c --format html --output audit.html"
FORMATS = ("md", "json", "html")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog=EXAMPLE)(audit)


def audit(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Runs of one suite, pooled.")],
    epsilon: Annotated[
        float,
        typer.Option(
            "--alt-test-epsilon",
            help="What a reviewer costs more than a judge: 0.2 for experts, 0.15 for skilled "
            "people, 0.1 for a crowd.",
        ),
    ] = 0.2,
    score: Annotated[
        str | None,
        typer.Option(
            "--alt-test-score",
            help="accuracy or neg_rmse.  [default: neg_rmse where the scale has credits]",
        ),
    ] = None,
    wished_error: Annotated[
        float,
        typer.Option(help="The error that proposed thresholds of the bands are to keep."),
    ] = 0.05,
    names: Annotated[
        bool, typer.Option("--names", help="Reviewers by name.  [default: by pseudonym]")
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="md, json or html.  [default: by --output's ending; else md on a terminal, "
            "json otherwise]",
        ),
    ] = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Measure the judges by what people said: agreement, leniency, taste for length and kin.

    Also how reviewers agree with one another, which lines of the rubric judge and people read
    differently, how often each automatic band is wrong, and the judge's error beside speed.
    """
    from evalbot.auditing.audit import SCORES, AuditQuery
    from evalbot.auditing.audit import audit as audit_runs
    from evalbot.reporting.audit_tables import audit_tables
    from evalbot.reporting.audit_values import audit_values

    if score is not None:
        word_of("--alt-test-score", score, SCORES)
    if not 0 <= wished_error < 1:
        raise InputError(f"--wished-error {wished_error:g}: expected 0 to under 1")
    chosen = choose_of(FORMATS, form, output, otherwise="json")
    query = AuditQuery(epsilon, score, wished_error, names)
    with open_site(config, database) as (settings, opened):
        found = audit_runs(opened, runs, settings.folder, query)
    if chosen == "json":
        write_values(audit_values(found), output=output)
    else:
        write_tables(*audit_tables(found), form=chosen, output=output)
