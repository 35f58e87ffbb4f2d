"""`evalbot assign`: what people are given to grade."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list, word_of

EXAMPLE = "Example: evalbot assign translation --reviewers ann,bob --policy random --budget 120"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assign", epilog=EXAMPLE)(assign)


def assign(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or a suite for its newest.")],
    reviewers: Annotated[str, typer.Option(help="Who grades, separated by commas.")],
    policy: Annotated[
        str, typer.Option(help="How answers are drawn: all, random, stratified or uncertain.")
    ] = "all",
    budget: Annotated[
        int | None, typer.Option(min=1, help="Answers to draw in all; whole cases if together.")
    ] = None,
    overlap: Annotated[int, typer.Option(min=1, help="Reviewers on each answer.")] = 1,
    attention: Annotated[
        float, typer.Option(help="Share of items with a known verdict, which enter no rate.")
    ] = 0.0,
    practice: Annotated[int, typer.Option(min=0, help="Items to learn the rubric by.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed draws the same.")] = 1,
    layout: Annotated[
        str, typer.Option(help="together: all answers to a case. single: one at a time.")
    ] = "together",
    reveal_judge: Annotated[
        bool, typer.Option("--reveal-judge", help="Show the judge's grade after each item.")
    ] = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Draw a review campaign; its id goes to stdout, and the reviewers find it on their page."""
    from rich.console import Console

    from evalbot.domain.reviewing import COMMAND_LINE, CampaignPlan, Layout, Policy
    from evalbot.reviewing.campaigns import make_campaign

    plan = CampaignPlan(
        reviewers=split_list(reviewers),
        policy=Policy(word_of("--policy", policy, list(Policy))),
        budget=budget,
        overlap=overlap,
        attention=attention,
        practice=practice,
        seed=seed,
        layout=Layout(word_of("--layout", layout, list(Layout))),
        reveal_judge=reveal_judge,
    )
    with (
        open_site(config, database) as (settings, opened),
        Console(stderr=True).status("drawing, and looking for answers that name their model"),
    ):
        made = make_campaign(opened, run, plan, COMMAND_LINE, settings.folder)
    typer.echo(made.campaign.id)
    each = ", ".join(f"{name} {count}" for name, count in made.items.items())
    told = f"{made.answers} answers drawn; items: {each}"
    if made.attention or made.practice:
        told += f"; with a known verdict: {made.attention} as checks, {made.practice} to practise"
    typer.echo(told, err=True)
    if made.held:
        typer.echo(
            f"{made.held} answers name a model or its maker, and are held back until a lead masks "
            "or releases them on the page Campaigns",
            err=True,
        )
