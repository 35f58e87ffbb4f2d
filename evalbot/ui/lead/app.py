"""The leads' app: a tab a page."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from evalbot.ui.lead.audit import build_audit
from evalbot.ui.lead.campaigns import build_campaigns
from evalbot.ui.lead.chat import build_chat
from evalbot.ui.lead.decide import build_decide
from evalbot.ui.lead.results import build_results
from evalbot.ui.lead.runs import build_runs
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.speed import build_speed
from evalbot.ui.top import top_line

PAGES: tuple[tuple[str, str, Callable[[LeadSite, gr.Tab], None]], ...] = (
    ("Runs", "runs", build_runs),
    ("Results", "results", build_results),
    ("Audit", "audit", build_audit),
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
        app.load(
            site.events.guarded(top_line),
            None,
            [top],
            queue=False,
            show_progress="hidden",
            api_visibility="private",
        )
        with gr.Tabs():
            for label, name, build in PAGES:
                with gr.Tab(label, id=name) as tab:
                    build(site, tab)
    return app
