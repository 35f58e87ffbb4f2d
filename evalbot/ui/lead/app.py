"""The leads' app: a tab a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from evalbot.domain.people import User
from evalbot.ui.lead.campaigns import build_campaigns
from evalbot.ui.lead.chat import build_chat
from evalbot.ui.lead.decide import build_decide
from evalbot.ui.lead.results import build_results
from evalbot.ui.lead.runs import build_runs
from evalbot.ui.lead.site import LeadSite, Page
from evalbot.ui.lead.speed import build_speed
from evalbot.ui.top import top_line

PAGES: tuple[tuple[str, str, Callable[[LeadSite], Page | None]], ...] = (
    ("Runs", "runs", build_runs),
    ("Results", "results", build_results),
    ("Speed", "speed", build_speed),
    ("Campaigns", "campaigns", build_campaigns),
    ("Decide", "decide", build_decide),
    ("Chat", "chat", build_chat),
)


def build_lead_app(site: LeadSite) -> gr.Blocks:
    """All pages of leads."""
    app: gr.Blocks
    with gr.Blocks(title="evalbot", analytics_enabled=False) as app:
        top = gr.HTML("", elem_id="panel-top")
        _on(app.load, site, lambda user: str(top_line(user)), top)
        with gr.Tabs():
            for place, (label, name, build) in enumerate(PAGES):
                with gr.Tab(label, id=name) as tab:
                    page = build(site)
                if page is not None:
                    _on(tab.select, site, page.show, page.html)
                    if place == 0:
                        _on(app.load, site, page.show, page.html)
    return app


def _on(
    event: Callable[..., Any], site: LeadSite, show: Callable[[User], str], html: gr.HTML
) -> None:
    event(
        site.events.guarded(show),
        None,
        [html],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
