"""Adjudication: where graders disagree, worst first, and the lead's decision with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from evalbot.domain.people import User
from evalbot.errors import EvalbotError, InputError
from evalbot.reviewing import adjudication
from evalbot.store import campaigns
from evalbot.ui.fields import number, required, text
from evalbot.ui.lead.decide_view import answer_view, docket_view, nothing_view
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import add_panel


def build_decide(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""

    def page(
        run: str | None,
        answer: int | None = None,
        problem: str | None = None,
        reason: str = "",
    ) -> str:
        with site.database.read() as connection:
            reviewed = list(dict.fromkeys(one.run for one in campaigns.list_campaigns(connection)))
            reviewed += [one for one in campaigns.runs_with_people(connection)
                         if one not in reviewed]  # fmt: skip
        if not reviewed:
            return nothing_view()
        chosen = run if run in reviewed else reviewed[0]
        docket = adjudication.disputes_of(site.database, chosen, site.folder)
        if answer is None and docket.open:
            answer = docket.open[0].answer_id
        shown = ""
        if answer is not None:
            found = adjudication.disputed_answer(site.database, chosen, answer, site.folder)
            shown = answer_view(found, problem, reason)
        return docket_view(docket, reviewed, answer, shown)

    def act(user: User, action: Mapping[str, Any]) -> str:
        do = action.get("do")
        if do == "show":
            return page(text(action, "run"), number(action, "answer"))
        if do != "decide":
            raise InputError("this page sent something that it cannot have sent; load it again")
        run, answer = required(action, "run"), number(action, "answer")
        if answer is None:
            raise InputError("which answer? Load the page again")
        reason = text(action, "reason") or ""
        try:
            verdict = action.get("verdict")
            if not isinstance(verdict, str):
                raise InputError("choose a verdict")
            adjudication.decide(
                site.database, user, run, answer, verdict or None, reason,
                number(action, "last", least=0) or 0, site.folder,
            )  # fmt: skip
        except EvalbotError as error:
            return page(run, answer, str(error), reason)
        return page(run)

    panel = add_panel("decide", site.events, act)
    when_shown(tab, site.events, lambda _: page(None), [panel.html])
