"""`evalbot init`: a first config, suite and rubric to change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: evalbot init my-eval && cd my-eval && evalbot check"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog=EXAMPLE)(init)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write; made if it is not there.")
    ] = Path(),
) -> None:
    """Write a commented evalbot.yaml, and a small suite and rubric, into DIR."""
    from evalbot.formats.templates import write_templates

    for path in write_templates(folder):
        typer.echo(f"wrote {path}", err=True)
    typer.echo("Next: put your servers into evalbot.yaml, then type: evalbot check", err=True)
