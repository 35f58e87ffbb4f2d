"""`evalbot judge`: pre-grade a run by judge models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_record, read_site, split_list
from evalbot.cli.stopping import run_until_stopped
from evalbot.errors import EvalbotError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalbot.domain.settings import JudgeSettings
    from evalbot.judging.docket import Material, Scope
    from evalbot.judging.session import JudgingSession
    from evalbot.providers.litellm_provider import LitellmProvider
    from evalbot.store.database import Database

EXAMPLE = "Example: evalbot judge hallucination-20261130-7f3a1c --judges strong --votes 3"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("judge", epilog=EXAMPLE)(judge)


def judge(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to pre-grade.")],
    judges: Annotated[
        str | None, typer.Option(help="Only these judges, separated by commas.")
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option(min=1, help="Replies of each judge to an answer.  [default: the judge's]"),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the order that later votes see, and of what a probe draws.")
    ] = 1,
    only: Annotated[
        str,
        typer.Option(
            help="needs_review: what automatic scoring left open; unjudged: what has no reply "
            "yet; all: also what brought no verdict."
        ),
    ] = "unjudged",
    include_truncated: Annotated[
        bool, typer.Option("--include-truncated", help="Judge answers that were cut off too.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Start no call that could cost more in all."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell calls, tokens and cost.")
    ] = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Pre-grade the answers of RUN by its rubric, with one judge model or several.

    What a judge has replied to is never asked again, as long as judge, rubric, case and answer
    stay the same. Replies are saved as they come; Ctrl-C stops cleanly, and the same command
    goes on from there.
    """
    from evalbot.formats.problems import one_of, shown
    from evalbot.judging.docket import Only, Scope
    from evalbot.judging.prepare import choose_judges, read_material

    if only not in list(Only):
        raise InputError(f"--only: found {shown(only)}; expected {one_of(list(Only), only)}")
    settings = read_site(config, required=True)
    chosen = choose_judges(settings, split_list(judges))
    scope = Scope(Only(only), include_truncated, seed)
    with open_record(settings, database, make=False) as opened:
        material = read_material(opened, run, settings.folder)
        _judge(opened, material, chosen, votes, scope, max_cost, dry_run)


def _judge(
    opened: Database,
    material: Material,
    chosen: Sequence[JudgeSettings],
    votes: int | None,
    scope: Scope,
    max_cost: float | None,
    dry_run: bool,
) -> None:
    """Judge what is left; exits with 1 where not all of it was."""
    from rich.console import Console

    from evalbot.cli.judging import print_outcome, print_workloads, raise_if_without_verdict
    from evalbot.judging.prepare import prepare
    from evalbot.judging.session import JudgingSession

    console = Console(stderr=True)
    with console.status("seeing what is left to judge"):
        bench, loads = prepare(opened, material, chosen, votes, scope, {})
    if not any(load.calls for load in loads):
        typer.echo(f"run {material.run.id}: nothing is left to judge", err=True)
        print_outcome(opened, material, [])
        return
    with console.status("loading"):
        providers = {load.judge.name: _provider_of(load.judge) for load in loads if load.calls}
    prices = {name: provider.price for name, provider in providers.items()}
    print_workloads(loads, bench.votes, prices)
    if dry_run:
        return
    session = JudgingSession(opened, material, bench, providers, max_cost)
    finished = _work(session)
    print_outcome(opened, material, session.totals)
    raise_if_without_verdict(session.totals)
    if not finished:
        raise typer.Exit(1)


def _provider_of(judge: JudgeSettings) -> LitellmProvider:
    from evalbot.providers.litellm_provider import LitellmProvider

    return LitellmProvider(judge)


def _work(session: JudgingSession) -> bool:
    """Work on it and show how it goes; whether all was judged."""
    from evalbot.cli.progress import shown

    try:
        with shown(session.progress):
            finished = run_until_stopped(session.execute())
    except EvalbotError:
        typer.echo("Judging was interrupted; the same command goes on from there", err=True)
        raise
    if finished is None:
        typer.echo("Stopped. Every reply is saved; the same command goes on from there", err=True)
    elif session.budget.is_used_up:
        typer.echo(
            f"Stopped at --max-cost after ${session.budget.spent:.4f}; a higher one goes on from there",
            err=True,
        )
    elif not finished:
        for judge in session.progress.endpoints.values():
            if judge.done < judge.total:
                typer.echo(f"judge {judge.name} {judge.state}", err=True)
        typer.echo("Not everything could be judged; the same command goes on from there", err=True)
    return bool(finished)
