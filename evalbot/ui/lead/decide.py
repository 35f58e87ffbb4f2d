"""Adjudication: where graders disagree, worst first."""

from __future__ import annotations

import gradio as gr

from evalbot.ui.lead.site import LeadSite


def build_decide(site: LeadSite) -> None:
    """Put this page into the tab that is being built."""
    gr.Markdown("…")
