"""`evalbot import`: answers, grades, speed results and whole runs from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_site
from evalbot.errors import InputError

if TYPE_CHECKING:
    from evalbot.transfer.coming import Imported

app = typer.Typer(
    help="Bring in answers, grades, speed results, or a whole run.", no_args_is_help=True
)

FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Files that end in .csv or .jsonl.")
]
LabelOption = Annotated[str | None, typer.Option(help="A label for the new runs.")]


@app.command("answers", epilog="Example: evalbot import answers answers.csv --label by-hand")
def answers(
    files: FilesArgument,
    label: LabelOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Bring in answers as one run a suite, and score them.

    Columns: suite, case, model, answer, and if you have them repeat, finish_reason,
    reasoning, ttft_ms, decode_tps. The same rows again add nothing. Each run's id is printed.
    """
    from evalbot.transfer.answers import import_answers

    with open_site(config, database, make=True) as (settings, opened):
        _tell(import_answers(opened, settings, files, label), "answers")


@app.command(
    "grades", epilog="Example: evalbot import grades reviews.csv --run my-suite-20261130-7f"
)
def grades(
    files: FilesArgument,
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Grade this run's answers.  [default: new runs]"),
    ] = None,
    label: LabelOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Bring in grades, on the answers of RUN or as one new run a suite.

    Columns: suite, case, model, layer, grader, verdict, and if you have them repeat, answer,
    rationale, at. The same rows again add nothing. Each run's id is printed.
    """
    from evalbot.transfer.attach import attach_grades
    from evalbot.transfer.grades import import_grades

    if run is not None and label is not None:
        raise InputError("--label is for new runs; leave it or --run out")
    with open_site(config, database, make=True) as (settings, opened):
        if run is None:
            _tell(import_grades(opened, settings, files, label), "grades")
        else:
            _tell([attach_grades(opened, settings, files, run)], "grades")


@app.command(
    "speed", epilog="Example: evalbot import speed bench.json --kind llama-bench --hardware my-pc"
)
def speed(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="What the tool wrote.")],
    kind: Annotated[str, typer.Option(help="llama-bench, vllm-bench or table.")],
    hardware: Annotated[
        str | None, typer.Option(metavar="NAME", help="The machine; prices are the config's.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, over the file's own name.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="A label in tables.  [default: the file's name]")
    ] = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Bring in speed results, one import a file; the same file again adds nothing.

    llama-bench: its json, jsonl, csv, sql or md output, failures in it included. vllm-bench:
    the result JSON of vLLM's serving benchmark. table: CSV with the columns of
    `evalbot speeds`, or those docs/speed.md shows. Each import's id is printed.
    """
    from evalbot.formats.problems import one_of, shown
    from evalbot.formats.words import count
    from evalbot.speed.imports import ImportKind, Named, import_speed

    if kind not in set(ImportKind):
        raise InputError(f"--kind: found {shown(kind)}; expected {one_of(list(ImportKind), kind)}")
    with open_site(config, database, make=True) as (settings, opened):
        imported = import_speed(opened, files, ImportKind(kind), Named(hardware, model, label))
    for one in imported:
        typer.echo(one.sweep)
        told = f"{count(one.new, 'row')} added" if one.new else "it was there: nothing added"
        typer.echo(f"{one.file}: {told}", err=True)
        for row in one.rows:
            if kind == ImportKind.VLLM_BENCH and row.evidence:
                typer.echo(f"note: {one.file}: {row.evidence}", err=True)
    machines = {machine.name for machine in settings.hardware}
    if hardware is not None and hardware not in machines:
        typer.echo(
            f"note: evalbot.yaml has no hardware {shown(hardware)}, so there is no price for it",
            err=True,
        )


@app.command("run", epilog="Example: evalbot import run exported/my-suite-20261130-7f3a1c")
def run(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that `evalbot export` wrote.")
    ],
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Take an exported run in: its checksums are checked, and its rates stay the same."""
    from evalbot.transfer.restore import import_run

    with open_site(config, database, make=True) as (settings, opened):
        restored = import_run(opened, settings, folder)
    typer.echo(restored.run)
    told = "is in the record now" if restored.added else "was there already: nothing was added"
    typer.echo(f"{restored.run} {told}", err=True)


def _tell(imported: Iterable[Imported], what: str) -> None:
    for one in imported:
        typer.echo(one.run)
        typer.echo(f"{one.suite}: {one.new} of {one.rows} {what} are new to {one.run}", err=True)
