"""`evalbot judge`: pre-grade a run by judge models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import (
    ConfigOption,
    DatabaseOption,
    open_record,
    read_site,
    split_list,
    word_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalbot.domain.settings import JudgeSettings
    from evalbot.judging.budget import Budget
    from evalbot.judging.docket import Material, Scope
    from evalbot.judging.variations import ProbeKind
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
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N answers that are left.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Start no call that could cost more in all."),
    ] = None,
    probe: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="Then probe the judges: repeat, reverse, swap, lengthen, names, inject, "
            "reference, trap, or all of them by `all`.",
        ),
    ] = None,
    probe_sample: Annotated[
        int, typer.Option(min=1, help="Answers, or pairs, that each kind of probe draws.")
    ] = 100,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Send anthropic/ judges their work in batches: half the price, up to a day. May "
            "be stopped while it waits; the same command fetches the results.",
        ),
    ] = False,
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
    from evalbot.judging.budget import Budget
    from evalbot.judging.docket import Only, Scope
    from evalbot.judging.prepare import choose_judges, read_material
    from evalbot.judging.variations import ProbeKind

    scope = Scope(Only(word_of("--only", only, list(Only))), include_truncated, seed, limit)
    kinds = [word_of("--probe", kind, [*ProbeKind, "all"]) for kind in split_list(probe)]
    wanted = [kind for kind in ProbeKind if kind in kinds or "all" in kinds]
    settings = read_site(config, required=True)
    chosen = choose_judges(settings, split_list(judges))
    budget = Budget(max_cost)
    with open_record(settings, database, make=False) as opened:
        material = read_material(opened, run, settings.folder)
        finished = _judge(
            opened, material, chosen, votes, scope, budget, batch=batch, dry_run=dry_run
        )
        if finished and wanted:
            finished = _probe(
                opened, material, chosen, wanted, scope, probe_sample, budget, dry_run
            )
    if not finished:
        raise typer.Exit(1)


def _judge(
    opened: Database,
    material: Material,
    chosen: Sequence[JudgeSettings],
    votes: int | None,
    scope: Scope,
    budget: Budget,
    *,
    batch: bool,
    dry_run: bool,
) -> bool:
    """Judge what is left, call by call or in batches; whether all of it was."""
    from evalbot.cli.judging import (
        batching,
        loaded,
        looking,
        print_left_out,
        print_outcome,
        print_taken,
        print_workloads,
        raise_if_never_a_verdict,
        raise_if_without_verdict,
        work,
    )
    from evalbot.judging.batching import batch_session
    from evalbot.judging.prepare import prepare, refuse_unbatchable, taken_by_batches
    from evalbot.judging.voting import judging_session

    if batch:
        refuse_unbatchable(chosen)
    with looking("seeing what is left to judge"):
        taken = taken_by_batches(opened, material, chosen)
        bench, loads = prepare(opened, material, chosen, votes, scope, taken)
    typer.echo(f"run {material.run.id}", err=True)
    print_left_out(opened, material, scope)
    print_taken(taken, batch)
    waiting = [judge for judge in chosen if batch and taken[judge.name]]
    if not bench.busy and not waiting:
        typer.echo("nothing is left to judge", err=True)
        print_outcome(opened, material, [])
        raise_if_never_a_verdict(loads)
        return True
    if batch:
        by_name = {one.name: one for one in (*bench.busy, *waiting)}
        batches = batching(by_name.values())
        print_workloads(loads, bench.votes, batches)
        session = batch_session(opened, material, bench, batches, taken, budget)
    else:
        providers = loaded(bench.busy)
        print_workloads(loads, bench.votes, providers)
        session = judging_session(opened, material, bench, providers, budget)
    if dry_run:
        return True
    finished = work(session)
    print_outcome(opened, material, session.totals)
    raise_if_without_verdict(session.totals)
    return finished


def _probe(
    opened: Database,
    material: Material,
    chosen: Sequence[JudgeSettings],
    kinds: Sequence[ProbeKind],
    scope: Scope,
    sample: int,
    budget: Budget,
    dry_run: bool,
) -> bool:
    """Probe the judges with what is not on record yet; whether all of it was done."""
    from evalbot.cli.judging import loaded, looking, print_probe_calls, print_probes, work
    from evalbot.judging.probing import prepare_probing, probing_session

    with looking("drawing what to probe with"):
        probing = prepare_probing(opened, material, chosen, kinds, scope, sample)
    print_probe_calls(probing)
    if dry_run:
        return True
    finished = True
    busy = [judge for judge in chosen if probing.jobs[judge.name]]
    if busy:
        session = probing_session(opened, probing, busy, loaded(busy), budget)
        finished = work(session)
    print_probes(opened, material, chosen)
    return finished
