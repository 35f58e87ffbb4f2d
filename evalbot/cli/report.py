"""`evalbot report`: one file that a lead can publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalbot.cli.output import OutputOption, choose_of, write_text
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site
from evalbot.errors import InputError

EXAMPLE = "Example: evalbot report translation-20261201-7f3a1c --output report.html"
FORMATS = ("html", "md")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report", epilog=EXAMPLE)(report)


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Runs.  [default: the newest of each suite]"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
    foreword: Annotated[
        Path | None,
        typer.Option(
            help="Your own words to begin with: a plain text, paragraphs parted by empty lines."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="html or md.  [default: by --output's ending; else html]"),
    ] = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write one self-contained report: what was asked, results, limits, how to check it.

    The HTML file holds its figures and loads nothing. It tells which layer to quote, what the
    data cannot tell apart, and the judge's measured bias.
    """
    from evalbot.formats.documents import to_html, to_markdown
    from evalbot.formats.received import clean_text
    from evalbot.reporting.report.report import make_report

    chosen = choose_of(FORMATS, form or (None if output else "html"), output, otherwise="html")
    own = "" if foreword is None else clean_text(_read(foreword))
    title = None if title is None else clean_text(title)
    with open_site(config, database) as (settings, opened):
        document = make_report(opened, settings, runs or [], title, own)
    write_text(to_html(document) if chosen == "html" else to_markdown(document), chosen, output)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"--foreword {path}: could not be read ({reason})") from error
