"""`evalbot demo`: real models, a real run, real tables."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from types import FrameType

EXAMPLE = "Example: evalbot demo my-demo --no-serve"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog=EXAMPLE)(demo)


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the demo keeps its files.")
    ] = Path("evalbot-demo"),
    no_serve: Annotated[  # noqa: ARG001 - there is nothing to serve yet
        bool,
        typer.Option(
            "--no-serve", help="Stop after the tables, as it does until there is a web page."
        ),
    ] = False,
) -> None:
    """Start two small llama.cpp servers, run a small suite over them, and print the tables."""
    from rich.console import Console

    from evalbot.demo import models
    from evalbot.demo.servers import DemoModel, serving

    # A polite kill must stop the servers too: as an exception it passes every `finally`.
    signal.signal(signal.SIGTERM, _interrupt)
    console = Console(stderr=True)
    models.require_server()
    folder.mkdir(parents=True, exist_ok=True)
    cache = folder / "models"
    with console.status("getting the models ready (350 MB, the first time only)"):
        chosen = [
            DemoModel(models.smollm2(cache), "smollm2"),
            DemoModel(models.gemma3(cache), "gemma3"),
        ]
    try:
        with serving(chosen, folder) as addresses:
            run_id = _run(folder, addresses)
    except KeyboardInterrupt:
        typer.echo("Stopped, and the servers with it.", err=True)
        raise typer.Exit(1) from None
    if run_id is None:
        raise typer.Exit(1)
    typer.echo(
        f"Read the answers:  cd {folder} && {_own_name()} show {run_id}\n"
        f"Your own servers:  {_own_name()} init my-eval",
        err=True,
    )


def _own_name() -> str:
    """What to type for evalbot here: its name, or its path where the shell would not find it."""
    if shutil.which("evalbot"):
        return "evalbot"
    return str(Path(sys.executable).with_name("evalbot"))


def _run(folder: Path, addresses: list[str]) -> str | None:
    from evalbot.cli.run import work
    from evalbot.demo.config import write_demo_config
    from evalbot.formats.config import read_config
    from evalbot.formats.tables import render
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import RateQuery, rate_rows
    from evalbot.reporting.run_speed import run_speed_table
    from evalbot.running.prepare import Selection, new_run, read_questions
    from evalbot.running.runner import RunOptions
    from evalbot.store.database import open_database

    settings = read_config(write_demo_config(folder, *addresses))
    with open_database(settings.database, settings.folder) as opened:
        selection = Selection(label="demo")
        questions = read_questions(settings, "demo", selection)
        prepared = new_run(opened, settings, questions, selection)
        if not work(opened, prepared, RunOptions(settings.folder)):
            return None
        rows = rate_rows(opened, [prepared.run.id], settings.folder, RateQuery())
        tables = [*people_tables(rows), run_speed_table(opened, prepared.run.id)]
        typer.echo(render(*tables, form="md").decode())
    return prepared.run.id


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
