"""What `evalbot judge` tells: what it will take, what it took, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from evalbot.cli.stopping import run_until_stopped
from evalbot.errors import EvalbotError
from evalbot.judging.asking import LARGER

if TYPE_CHECKING:
    from evalbot.domain.settings import JudgeSettings
    from evalbot.judging.docket import Material, Scope
    from evalbot.judging.lane import Priced, PricedProvider
    from evalbot.judging.prepare import Workload
    from evalbot.judging.probing import Probing
    from evalbot.judging.session import Session
    from evalbot.judging.totals import Totals
    from evalbot.providers.anthropic_batches import AnthropicBatches
    from evalbot.store.database import Database


CUT_ONCE_READ, CUT_ONCE_WRITE = 2, 1 + LARGER
"""How much is read and written where every reply is cut off and asked for once more."""

ADVICE = {
    "judge_error": "check its model, api_base and key in evalbot.yaml, and whether timeout_s and "
    "concurrency suit the server",
    "judge_truncated": "give it a larger max_tokens, or try another model",
}
OTHER_ADVICE = "try another model; evalbot show tells all its words"


@contextmanager
def looking(what: str) -> Iterator[None]:
    """Say what is being done meanwhile, where there is somebody to see it."""
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def loaded(judges: Sequence[JudgeSettings]) -> dict[str, PricedProvider]:
    """The judges' providers; only now is litellm imported, which takes seconds."""
    from evalbot.providers.litellm_provider import LitellmProvider

    with looking("loading"):
        return {judge.name: LitellmProvider(judge) for judge in judges}


def batching(judges: Iterable[JudgeSettings]) -> dict[str, AnthropicBatches]:
    """The judges' providers of batches."""
    from evalbot.providers.anthropic_batches import AnthropicBatches

    with looking("loading"):
        return {judge.name: AnthropicBatches(judge) for judge in judges}


def work(session: Session[Any]) -> bool:
    """Work on a session and show how it goes; whether all was done."""
    from evalbot.cli.progress import shown

    goes_on = "the same command goes on from there"
    try:
        with shown(session.progress):
            finished = run_until_stopped(session.execute())
    except EvalbotError:
        typer.echo(f"Judging was interrupted; {goes_on}", err=True)
        raise
    if finished is None:
        typer.echo(f"Stopped. Every reply is saved; {goes_on}", err=True)
    elif session.budget.is_used_up:
        spent = dollars(session.budget.spent)
        typer.echo(
            f"Stopped at --max-cost after {spent}: another call could have cost more than was "
            f"left; with a higher one {goes_on}",
            err=True,
        )
    elif not finished:
        for judge in session.progress.endpoints.values():
            if judge.done < judge.total:
                typer.echo(f"judge {judge.name} {judge.state}", err=True)
        typer.echo(f"Not everything could be judged; {goes_on}", err=True)
    return bool(finished)


def print_workloads(
    loads: Sequence[Workload], votes: Mapping[str, int], providers: Mapping[str, Priced]
) -> None:
    """Calls, tokens and what they cost at most, a line a judge."""
    from evalbot.formats.words import count

    for load in loads:
        name = load.judge.name
        if not load.calls:
            typer.echo(f"{name}: nothing new to ask", err=True)
            continue
        price = providers[name].price
        cost = "cost unknown (no price)"
        if price is not None:
            usual = price.of(load.tokens_to_read, load.most_to_write)
            most = price.of(CUT_ONCE_READ * load.most_to_read, CUT_ONCE_WRITE * load.most_to_write)
            cost = f"about {dollars(usual)}, at most {dollars(most)} if all are cut off once"
        typer.echo(
            f"{name} ({load.judge.model}): {count(load.calls, 'call')} "
            f"({count(load.judged, 'verdict')} there already), "
            f"{count(votes[name], 'vote')} an answer, about {load.tokens_to_read} tokens to read, "
            f"up to {load.most_to_write} to write, {cost}",
            err=True,
        )


def dollars(amount: float) -> str:
    """So many digits that a small amount is not 0."""
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


def print_left_out(opened: Database, material: Material, scope: Scope) -> None:
    """Answers that were cut off, where they are not judged."""
    from evalbot.domain.answers import AnswerStatus
    from evalbot.formats.words import count
    from evalbot.store.judging import count_with_status

    if scope.include_truncated:
        return
    with opened.read() as connection:
        cut = count_with_status(connection, material.run.id, AnswerStatus.TRUNCATED)
    if cut:
        typer.echo(
            f"{count(cut, 'answer')} cut off at the token limit: --include-truncated judges them "
            "too",
            err=True,
        )


def print_taken(taken: Mapping[str, Collection[str]], fetching: bool) -> None:
    """What is in batches, and how to get it."""
    from evalbot.formats.words import count

    for name, calls in taken.items():
        if calls:
            how = "waiting for it" if fetching else "--batch fetches it"
            typer.echo(f"{name}: {count(len(calls), 'call')} in a batch: {how}", err=True)


def print_probe_calls(probing: Probing) -> None:
    """How many calls probes will take, a line a judge."""
    from evalbot.formats.words import count
    from evalbot.judging.probing import calls_of

    for judge, jobs in probing.jobs.items():
        typer.echo(f"{judge}: {count(calls_of(jobs), 'call')} to probe it", err=True)


def print_probes(opened: Database, material: Material, judges: Sequence[JudgeSettings]) -> None:
    """What all probes of the run show of these judges."""
    from evalbot.formats.tables import render
    from evalbot.judging.probing import compared_pairs, probe_results
    from evalbot.reporting.probe_table import pair_table, probe_table

    tables = [probe_table(probe_results(opened, material, judges))]
    for judge in judges:
        records = compared_pairs(opened, material, judge)
        if records:
            tables.append(pair_table(judge.name, records))
    typer.echo(render(*tables, form="md").decode(), err=True)


def print_outcome(opened: Database, material: Material, totals: Sequence[Totals]) -> None:
    """What each judge took and brought, and the rates of the judge layer."""
    from evalbot.domain.rubrics import Layer
    from evalbot.formats.tables import render
    from evalbot.reporting.judge_table import totals_table
    from evalbot.reporting.rate_rows import RateQuery
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import rates_of_run
    from evalbot.store.runs import refresh

    tables = [totals_table(totals)] if totals else []
    with opened.read() as connection:
        run = refresh(connection, material.run)
        rows = rates_of_run(connection, run, material.basis, RateQuery(Layer.JUDGE))
    typer.echo(render(*tables, *people_tables(rows), form="md").decode(), err=True)


def raise_if_without_verdict(totals: Sequence[Totals]) -> None:
    """A judge whose replies brought no verdict at all has failed: EvalbotError says how."""
    for one in totals:
        if one.asked and not one.verdicts and not one.before:
            reasons = ", ".join(f"{number} {reason}" for reason, number in one.reasons.items())
            most = one.reasons.most_common(1)[0][0]
            raise EvalbotError(
                f"judge {one.judge} gave no verdict in {one.asked} calls ({reasons}); the first "
                f"{most}: {one.problems[most]}; {ADVICE.get(most, OTHER_ADVICE)}"
            )


def raise_if_never_a_verdict(loads: Sequence[Workload]) -> None:
    """The same of a judge that has nothing new to be asked: it is not well either."""
    for load in loads:
        if load.unscored and not load.judged:
            raise EvalbotError(
                f"judge {load.judge.name} has replied {load.unscored} times without a verdict; "
                "evalbot show tells its words, --only all asks once more"
            )
