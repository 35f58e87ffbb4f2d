"""Campaigns: what people are given to grade."""

from __future__ import annotations

import gradio as gr

from evalbot.ui.lead.site import LeadSite


def build_campaigns(site: LeadSite) -> None:
    """Put this page into the tab that is being built."""
    gr.Markdown("…")
