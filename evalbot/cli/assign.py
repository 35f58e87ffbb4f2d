"""`evalbot assign`: what people are given to grade."""

from __future__ import annotations

from typing import Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list, word_of
from evalbot.errors import InputError

EXAMPLE = "Example: evalbot assign translation --reviewers ann,bob --policy random --budget 120"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assign", epilog=EXAMPLE)(assign)


def assign(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or a suite for its newest.")],
    reviewers: Annotated[str | None, typer.Option(help="Who grades, separated by commas.")] = None,
    extend: Annotated[
        str | None,
        typer.Option(
            metavar="CAMPAIGN",
            help="Draw more for this campaign, with --policy, --budget and --seed alone: its "
            "reviewers and layout stay, and its chances are joined.",
        ),
    ] = None,
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
    from evalbot.reviewing.campaigns import extend_campaign, make_campaign

    drawn_by = Policy(word_of("--policy", policy, list(Policy)))
    if (reviewers is None) == (extend is None):
        raise InputError("give either --reviewers for a new campaign, or --extend CAMPAIGN")
    plan = CampaignPlan(
        reviewers=split_list(reviewers),
        policy=drawn_by,
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
        if extend is None:
            made = make_campaign(opened, run, plan, COMMAND_LINE, settings.folder)
        else:
            made = extend_campaign(
                opened,
                extend,
                COMMAND_LINE,
                settings.folder,
                policy=drawn_by,
                budget=budget,
                seed=seed,
                run_id=run,
            )
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
