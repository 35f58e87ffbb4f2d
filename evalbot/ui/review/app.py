"""The reviewers' app: one panel, whose HTML comes from the desk of who asks."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from evalbot.domain.settings import Config
from evalbot.store.database import Database
from evalbot.ui.events import Events
from evalbot.ui.review.chat import build_review_chat


def build_review_app(
    database: Database, events: Events, read_config: Callable[[], Config]
) -> gr.Blocks:
    """The app; nothing in its tree depends on the record or the config."""
    app: gr.Blocks
    with gr.Blocks(title="evalbot", analytics_enabled=False) as app:
        gr.HTML("…")
        build_review_chat(database, read_config, events)
    return app
