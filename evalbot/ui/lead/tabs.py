"""When a page of the leads' app is looked at: nothing is read for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.components import Component

from evalbot.ui.events import Events


def when_shown(
    tab: gr.Tab, events: Events, handler: Callable[..., Any], outputs: Sequence[Component]
) -> None:
    """Fill outputs whenever this tab comes into view, at the start too."""
    tab.select(
        events.guarded(handler),
        None,
        list(outputs),
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
