"""What `evalbot judge` tells: what it will take, what it took, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from evalbot.errors import EvalbotError

if TYPE_CHECKING:
    from evalbot.domain.judging import Price
    from evalbot.judging.docket import Material
    from evalbot.judging.prepare import Workload
    from evalbot.judging.totals import Totals
    from evalbot.store.database import Database


def print_workloads(
    loads: Sequence[Workload], votes: Mapping[str, int], prices: Mapping[str, Price | None]
) -> None:
    """Calls, tokens and what they cost at most, a line a judge."""
    from evalbot.formats.words import count

    for load in loads:
        name = load.judge.name
        if not load.calls:
            typer.echo(f"{name}: nothing is left to judge", err=True)
            continue
        price = prices.get(name)
        cost = "cost unknown (no price)" if price is None else _dollars_at_most(load, price)
        typer.echo(
            f"{name} ({load.judge.model}): {count(load.calls, 'call')} "
            f"({count(load.judged, 'verdict')} there already), "
            f"{count(votes[name], 'vote')} an answer, about {load.tokens_to_read} tokens to read, "
            f"at most {load.most_to_write} to write, {cost}",
            err=True,
        )


def _dollars_at_most(load: Workload, price: Price) -> str:
    return f"at most ${price.of(load.tokens_to_read, load.most_to_write):.2f}"


def print_outcome(opened: Database, material: Material, totals: Sequence[Totals]) -> None:
    """What each judge took and brought, and the rates of the judge layer."""
    from evalbot.domain.rubrics import Layer
    from evalbot.formats.tables import render
    from evalbot.reporting.judge_table import totals_table
    from evalbot.reporting.rate_table import people_tables
    from evalbot.reporting.rates import RateQuery, rates_of_run
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
            raise EvalbotError(
                f"judge {one.judge} gave no verdict in {one.asked} replies ({reasons}); the first: "
                f"{one.first_problem}; try another model, or a larger max_tokens"
            )
