"""`evalbot speed`: sweep endpoints over prompt lengths and streams at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.confirming import AllowCommandsOption, confirm_commands
from evalbot.cli.output import FormatOption, OutputOption, choose_format, refuse_unwritable
from evalbot.cli.site import ConfigOption, DatabaseOption, open_record, read_site, split_list
from evalbot.cli.stopping import run_until_stopped
from evalbot.errors import EvalbotError, InputError

if TYPE_CHECKING:
    from evalbot.domain.settings import Config
    from evalbot.domain.sweeps import SweepPlan
    from evalbot.speed.overhead import Overhead
    from evalbot.speed.prepare import PreparedSweep
    from evalbot.store.database import Database

EXAMPLE = "Example: evalbot speed --endpoints qwen,gemma --contexts 512,4096 --concurrency 1,2,4"
MOST_TOKENS, MOST_STREAMS, MOST_REPEATS = 10_000_000, 1024, 1000
"""Numbers beyond these are slips."""

DEFAULT_CONTEXTS, DEFAULT_CONCURRENCY = "512,4096", "1,2,4"
DEFAULT_OUTPUT_TOKENS, DEFAULT_REPEATS = 128, 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("speed", epilog=EXAMPLE)(speed)


def speed(
    endpoints: Annotated[
        str | None, typer.Option(help="Only these endpoints, separated by commas.")
    ] = None,
    contexts: Annotated[
        str | None,
        typer.Option(help=f"Prompt lengths in tokens.  [default: {DEFAULT_CONTEXTS}]"),
    ] = None,
    concurrency: Annotated[
        str | None,
        typer.Option(help=f"How many streams at once.  [default: {DEFAULT_CONCURRENCY}]"),
    ] = None,
    output_tokens: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=MOST_TOKENS,
            help=f"Tokens each stream writes.  [default: {DEFAULT_OUTPUT_TOKENS}]",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_REPEATS, help=f"Measure each so often.  [default: {DEFAULT_REPEATS}]"
        ),
    ] = None,
    parallel_endpoints: Annotated[
        bool,
        typer.Option(
            "--parallel-endpoints",
            help="Measure endpoints side by side: right only where they share no hardware.",
        ),
    ] = False,
    label: Annotated[str | None, typer.Option(help="A name for this sweep in tables.")] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Take up this sweep where it stopped.")
    ] = None,
    allow_commands: AllowCommandsOption = False,
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Measure how fast each endpoint reads and writes, and print the speed table.

    Prompts have exactly the lengths asked for, by the server's own count, are never met
    twice and never read from a cache. Endpoints are measured one after another, after a
    warm-up that is not counted. Ctrl-C stops cleanly; --resume goes on from there.
    """
    from evalbot.running.prepare import choose_endpoints
    from evalbot.speed.prepare import new_sweep, resume_sweep, telemetry_of

    settings = read_site(config, required=True)
    chosen_form = choose_format(form, output)
    refuse_unwritable(chosen_form, output)
    if resume is not None:
        given = (endpoints, contexts, concurrency, output_tokens, repeats, label)
        if parallel_endpoints or any(value is not None for value in given):
            raise InputError("--resume ID goes on with that sweep as it is: leave the rest out")
        with open_record(settings, database, make=False) as opened:
            prepared = resume_sweep(opened, settings, resume)
            confirm_commands(
                prepared.endpoints, settings, allow_commands, list(prepared.telemetry.values())
            )
            _work(opened, settings, prepared, chosen_form, output)
        return
    plan = _plan(contexts, concurrency, output_tokens, repeats, parallel_endpoints)
    chosen = choose_endpoints(settings, split_list(endpoints))
    telemetry = telemetry_of(settings, chosen)
    confirm_commands(chosen, settings, allow_commands, list(telemetry.values()))
    with open_record(settings, database, make=True) as opened:
        prepared = new_sweep(opened, settings, plan, chosen, label)
        _work(opened, settings, prepared, chosen_form, output)


def _plan(
    contexts: str | None,
    concurrency: str | None,
    output_tokens: int | None,
    repeats: int | None,
    parallel: bool,
) -> SweepPlan:
    from evalbot.domain.sweeps import SweepPlan

    return SweepPlan(
        contexts=_numbers("--contexts", contexts, DEFAULT_CONTEXTS, MOST_TOKENS),
        concurrency=_numbers("--concurrency", concurrency, DEFAULT_CONCURRENCY, MOST_STREAMS),
        output_tokens=output_tokens or DEFAULT_OUTPUT_TOKENS,
        repeats=repeats or DEFAULT_REPEATS,
        parallel_endpoints=parallel,
    )


def _numbers(option: str, text: str | None, default: str, most: int) -> tuple[int, ...]:
    """The whole numbers of a list, each once, the smallest first."""
    from evalbot.formats.problems import shown

    numbers = set()
    for part in split_list(default if text is None else text):
        digits = part.isascii() and part.isdigit() and len(part) <= len(str(most))
        if not digits or not 1 <= int(part) <= most:
            raise InputError(
                f"{option}: found {shown(part)}; expected whole numbers from 1 to {most:,}, "
                "such as 1,2,4"
            )
        numbers.add(int(part))
    if not numbers:
        raise InputError(f"{option}: found nothing; expected whole numbers, such as 1,2,4")
    return tuple(sorted(numbers))


def _work(
    opened: Database,
    settings: Config,
    prepared: PreparedSweep,
    form: str,
    output: Path | None,
) -> None:
    """Measure, show how it goes, print the table; exits with 1 where not all was measured."""
    from evalbot.cli.progress import shown
    from evalbot.cli.speeds import print_speeds
    from evalbot.speed.results import SpeedQuery
    from evalbot.speed.sweeper import Sweeper

    sweep = prepared.sweep
    typer.echo(f"sweep {sweep.id}", err=True)
    hint = f"evalbot speed --resume {sweep.id}"
    sweeper = Sweeper(opened, sweep, prepared.endpoints, prepared.telemetry, settings.folder)
    try:
        with shown(sweeper.progress):
            finished = run_until_stopped(sweeper.execute())
    except EvalbotError:
        typer.echo(f"Sweep {sweep.id} was interrupted; go on with: {hint}", err=True)
        raise
    for endpoint in sweeper.progress.endpoints.values():
        for warning in endpoint.warnings:
            typer.echo(f"{endpoint.name}: warning: {warning}", err=True)
    print_speeds(opened, settings, SpeedQuery(sweeps=(sweep.id,)), form, output)
    sys.stdout.flush()
    typer.echo(_told(sweeper.overhead), err=True)
    if finished is None:
        typer.echo(f"Stopped. Every round measured is saved; go on with: {hint}", err=True)
    elif not finished:
        typer.echo(f"Not everything could be measured; go on with: {hint}", err=True)
    if not finished:
        raise typer.Exit(1)


def _told(overhead: Overhead) -> str:
    from evalbot.stats.rounding import percent

    share = overhead.cpu_share
    if share is None:
        return "overhead: nothing was measured"
    between = overhead.total_s - overhead.rounds_s
    return (
        f"overhead: evalbot itself used {percent(share)} of one core during "
        f"{overhead.rounds_s:.1f} s of measuring; {max(0.0, between):.1f} s went into starting, "
        "warming up, making prompts and recording between the rounds"
    )
