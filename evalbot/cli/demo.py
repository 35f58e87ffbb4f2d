"""`evalbot demo`: real models, a real run, real tables."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.serve import DEFAULT_HOST, DEFAULT_PORT
from evalbot.cli.site import CONFIG_NAME

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
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Stop after the tables.")] = False,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the web page.")
    ] = DEFAULT_PORT,
) -> None:
    """Start two small llama.cpp servers, run a small suite, print the tables, serve the page."""
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
            if run_id is not None:
                _tell(folder, run_id)
            if run_id is not None and not no_serve:
                _serve(folder, port)
    except KeyboardInterrupt:
        typer.echo("Stopped, and the servers with it.", err=True)
        raise typer.Exit(1) from None
    if run_id is None:
        raise typer.Exit(1)


def _tell(folder: Path, run_id: str) -> None:
    typer.echo(
        f"Read the answers:  cd {folder} && {_own_name()} show {run_id}\n"
        f"Your own servers:  {_own_name()} init my-eval",
        err=True,
    )


def _serve(folder: Path, port: int) -> None:
    """The web page over the demo's record, while its models still run."""
    from evalbot.formats.config import read_config
    from evalbot.store.database import open_database
    from evalbot.ui.address import checked_address
    from evalbot.ui.serving import serve

    path = folder / CONFIG_NAME
    settings = read_config(path)
    with open_database(settings.database, settings.folder) as opened:
        serve(
            opened,
            path,
            settings.folder,
            checked_address(DEFAULT_HOST, port, None, ()),
            lambda url: typer.echo(f"Look at it all:    open {url}   (Ctrl-C stops)", err=True),
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
    from evalbot.reporting.rate_rows import RateQuery
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import rate_rows
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
