"""Results: the rate table, its charts, and the answers behind every cell."""

from __future__ import annotations

import gradio as gr

from evalbot.ui.lead.site import LeadSite


def build_results(site: LeadSite) -> None:
    """Put this page into the tab that is being built."""
    gr.Markdown("…")
