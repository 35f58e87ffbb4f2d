"""The reviewers' app: one panel, whose HTML comes from the desk of who asks."""

from __future__ import annotations

import gradio as gr

from evalbot.store.database import Database
from evalbot.ui.events import Events


def build_review_app(database: Database, events: Events) -> gr.Blocks:
    """The app; nothing in its tree depends on the record."""
    app: gr.Blocks
    with gr.Blocks(title="evalbot", analytics_enabled=False) as app:
        gr.HTML("…")
    return app
