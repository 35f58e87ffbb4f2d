"""Campaigns: drawn, followed, extended, handed on, closed; answers that name a model decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from evalbot.domain.people import User
from evalbot.domain.reviewing import CampaignPlan, Layout, Policy
from evalbot.errors import EvalbotError, InputError
from evalbot.reviewing import campaigns, handing_on, holding
from evalbot.reviewing.draws import Made
from evalbot.reviewing.overview import campaign_overviews
from evalbot.store import people, run_lists
from evalbot.ui.fields import number, required, share, text, texts, word
from evalbot.ui.lead.campaigns_view import campaigns_page
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import add_panel


def build_campaigns(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""

    def page(told: str | None = None, problem: str | None = None) -> str:
        with site.database.read() as connection:
            users = [one for one in people.list_users(connection) if not one.is_disabled]
            found = run_lists.list_runs(connection)
        return campaigns_page(
            campaign_overviews(site.database, site.folder), found, users, told, problem
        )

    def act(user: User, action: Mapping[str, Any]) -> str:
        try:
            return page(told=_do(site, user, action))
        except EvalbotError as error:
            # The same sentences as on the command line, where options have dashes.
            return page(problem=str(error).replace("--", ""))

    panel = add_panel("campaigns", site.events, act)
    when_shown(tab, site.events, lambda _: page(), [panel.html])


def _do(site: LeadSite, user: User, action: Mapping[str, Any]) -> str | None:
    """Do what the page asks for; what to tell about it."""
    database = site.database
    match action.get("do"):
        case "show":
            return None
        case "make":
            made = campaigns.make_campaign(
                database, required(action, "run"), _plan(action), user.name, site.folder
            )
            return _told(made)
        case "extend":
            made = campaigns.extend_campaign(
                database, required(action, "campaign"), user.name, site.folder,
                policy=word(action, "policy", Policy), budget=number(action, "budget"),
                seed=number(action, "seed", least=0) or 0,
            )  # fmt: skip
            return _told(made)
        case "reassign":
            count = handing_on.reassign(
                database,
                required(action, "campaign"),
                required(action, "reviewer"),
                required(action, "to"),
            )
            return f"{count} answers handed to {required(action, 'to')}."
        case "close":
            campaigns.close(database, required(action, "campaign"))
            return "The campaign is closed; its grades stay."
        case "reopen":
            campaigns.reopen(database, required(action, "campaign"))
            return "The campaign goes on."
        case "mask_all":
            count = holding.mask_all(database, required(action, "campaign"), user.name)
            return f"The names in {count} answers are masked."
        case "hold":
            answer = number(action, "answer")
            if answer is None:
                raise InputError("which answer? Load the page again")
            before = action.get("before")
            holding.decide(
                database, answer, required(action, "decision"), user.name,
                before if isinstance(before, str) else None,
            )  # fmt: skip
            return None
    raise InputError("this page sent something that it cannot have sent; load it again")


def _plan(action: Mapping[str, Any]) -> CampaignPlan:
    return CampaignPlan(
        reviewers=texts(action, "reviewers"),
        policy=word(action, "policy", Policy),
        budget=number(action, "budget"),
        overlap=number(action, "overlap") or 1,
        attention=share(action, "attention"),
        practice=number(action, "practice", least=0) or 0,
        seed=number(action, "seed", least=0) or 0,
        layout=word(action, "layout", Layout),
        reveal_judge=text(action, "reveal_judge") is not None,
    )


def _told(made: Made) -> str:
    each = ", ".join(f"{name} {count}" for name, count in made.items.items())
    held = f" {made.held} name a model and are held back: see below." if made.held else ""
    return f"{made.answers} answers drawn; items: {each}.{held}"
