"""`evalbot run`: ask every endpoint every case."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.confirming import AllowCommandsOption, confirm_commands
from evalbot.cli.site import ConfigOption, DatabaseOption, open_record, read_site, split_list
from evalbot.cli.stopping import run_until_stopped
from evalbot.errors import EvalbotError, InputError

if TYPE_CHECKING:
    from evalbot.domain.settings import EndpointSettings
    from evalbot.running.prepare import PreparedRun, Questions, Selection
    from evalbot.running.runner import RunOptions
    from evalbot.store.database import Database

EXAMPLE = "Example: evalbot run translation --endpoints qwen,gemma --repeats 3"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", epilog=EXAMPLE)(run)


def run(
    suites: Annotated[
        list[str] | None, typer.Argument(help="Suites to run, by name or folder.", metavar="SUITE")
    ] = None,
    endpoints: Annotated[
        str | None, typer.Option(help="Only these endpoints, separated by commas.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Ask each case so often.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N cases.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only cases with one of these tags.")] = None,
    label: Annotated[str | None, typer.Option(help="A note shown in lists.")] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Requests at once per endpoint.  [default: the server's slots]"),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Take up this run where it stopped.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option(help="With --resume: ask again what failed on the way.")
    ] = False,
    add_endpoints: Annotated[
        str | None, typer.Option(help="With --resume: ask these endpoints too.")
    ] = None,
    self_check: Annotated[
        bool,
        typer.Option(
            "--self-check",
            help="Ask each model to check its own answer once more; both answers are kept.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell calls, tokens and rough time.")
    ] = False,
    allow_commands: AllowCommandsOption = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Ask every endpoint every case of SUITE; one run a suite.

    Each run's id is printed on stdout as it starts. Answers are saved as they come and
    scored at once. Ctrl-C stops cleanly; --resume goes on from there.
    """
    from evalbot.running.prepare import (
        Extension,
        Selection,
        choose_endpoints,
        new_run,
        read_questions,
        resume_run,
    )
    from evalbot.running.runner import RunOptions

    _check_usage(suites, resume, retry_failed, add_endpoints, limit, tag, label, dry_run)
    settings = read_site(config, required=True)
    options = RunOptions(settings.folder, concurrency, retry_failed)
    if resume is not None:
        extension = Extension(split_list(endpoints), split_list(add_endpoints), repeats, self_check)
        with open_record(settings, database, make=False) as opened:
            prepared = resume_run(
                opened,
                settings,
                resume,
                extension,
                lambda asked: confirm_commands(asked, settings, allow_commands),
            )
            _finish(opened, prepared, options)
        return
    selection = Selection(
        split_list(endpoints), limit, split_list(tag), repeats or 1, label, self_check
    )
    # Everything that can be wrong is told before anything is asked or written.
    chosen = choose_endpoints(settings, selection.endpoints)
    names = [name for listed in suites or [] for name in split_list(listed)]
    asked = [read_questions(settings, name, selection) for name in names]
    if not dry_run:
        confirm_commands(chosen, settings, allow_commands)
    with open_record(settings, database, make=True) as opened:
        if dry_run:
            _print_estimates(opened, chosen, asked, selection, concurrency)
            return
        for questions in asked:
            _finish(opened, new_run(opened, settings, questions, selection), options)


def _finish(opened: Database, prepared: PreparedRun, options: RunOptions) -> None:
    """Work on a run and print its rates; exits with 1 where not all was recorded."""
    from evalbot.cli.rate_table import print_summary
    from evalbot.grading.basis import Basis

    finished = work(opened, prepared, options)
    if finished is not None:
        print_summary(opened, prepared.run, Basis(prepared.run.suite, prepared.run.rubric))
    if not finished:
        raise typer.Exit(1)


def _check_usage(
    suites: list[str] | None,
    resume: str | None,
    retry_failed: bool,
    add_endpoints: str | None,
    limit: int | None,
    tag: str | None,
    label: str | None,
    dry_run: bool,
) -> None:
    if resume is None:
        if not suites:
            raise InputError("name a suite to run, for example: evalbot run translation")
        if retry_failed or add_endpoints:
            raise InputError("--retry-failed and --add-endpoints go with --resume RUN")
    elif suites or limit or tag or label or dry_run:
        raise InputError(
            "--resume RUN goes on with that run as it is: leave out SUITE, --limit, --tag, "
            "--label and --dry-run"
        )


def _print_estimates(
    opened: Database,
    endpoints: Sequence[EndpointSettings],
    asked: Sequence[Questions],
    selection: Selection,
    concurrency: int | None,
) -> None:
    from evalbot.formats.words import count, duration
    from evalbot.running.estimate import estimate_run

    repeats, passes = selection.repeats, 2 if selection.self_check else 1
    checked = ", each answer checked once more" if selection.self_check else ""
    for suite, _, _ in asked:
        typer.echo(
            f"{suite.name}: {count(len(suite.cases), 'case')}, {count(repeats, 'repeat')}{checked}"
        )
        for line in estimate_run(opened, suite, endpoints, repeats, concurrency, passes):
            time = "unknown, never asked before"
            if line.seconds is not None:
                time = f"about {duration(line.seconds)}"
            typer.echo(
                f"  {line.endpoint}: {count(line.calls, 'call')}, about {line.prompt_tokens} "
                f"tokens to read, at most {line.most_completion_tokens} to write, time {time}"
            )


def work(opened: Database, prepared: PreparedRun, options: RunOptions) -> bool | None:
    """Work on a run and show how it goes; whether all was recorded, None where it was stopped."""
    from evalbot.cli.progress import shown
    from evalbot.running.runner import Runner

    run_id = prepared.run.id
    typer.echo(run_id)
    sys.stdout.flush()
    runner = Runner(opened, prepared.run, prepared.endpoints, options)
    gc.freeze()  # modules and suite stay: no collection needs to look at them while asking
    hint = f"evalbot run --resume {run_id}"
    try:
        with shown(runner.progress):
            finished = run_until_stopped(runner.execute())
    except EvalbotError:
        typer.echo(f"Run {run_id} was interrupted; go on with: {hint}", err=True)
        raise
    for endpoint in runner.progress.endpoints.values():
        for warning in endpoint.warnings:
            typer.echo(f"{endpoint.name}: warning: {warning}", err=True)
    if finished is None:
        typer.echo(f"Stopped. Everything answered is saved; go on with: {hint}", err=True)
    elif not finished:
        typer.echo(f"Not everything could be asked; go on with: {hint}", err=True)
    failed = sum(one.failed_on_the_way for one in runner.progress.endpoints.values())
    if finished and failed:
        what = "1 answer" if failed == 1 else f"{failed} answers"
        typer.echo(f"{what} failed on the way; ask again with: {hint} --retry-failed", err=True)
    return finished
