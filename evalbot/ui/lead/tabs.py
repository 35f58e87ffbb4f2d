"""When a page of the leads' app is looked at: nothing is read for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.context import Context

from evalbot.ui.events import Events


def when_shown(events: Events, handler: Callable[..., Any], outputs: Sequence[Component]) -> None:
    """Fill outputs whenever the tab that is being built comes into view, at the start too."""
    tab = Context.block
    assert isinstance(tab, gr.Tab), "only within a tab"
    tab.select(
        events.guarded(handler),
        None,
        list(outputs),
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
