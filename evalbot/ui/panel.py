"""A panel: HTML of our own whose buttons and forms act through one Gradio event.

In a panel's HTML, `data-act='{"do": …}'` on a button sends that object when it is pressed; on a
form, when it is submitted, with the form's fields beside it. The handler returns the panel's next
HTML; a form with `data-once` is not sent twice before that came. Gradio changes the old HTML into
the new in place: give what holds fields `data-fresh` with a name of what it is about, so that they
begin anew when it is about something else. All text in it must
have gone through `as_text` or markupsafe's own escaping.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from evalbot.fingerprint import fingerprint
from evalbot.formats.received import clean_text
from evalbot.ui.events import Events
from evalbot.ui.text import as_text

LARGEST_ACTION = 1_000_000
"""Characters of what a page may send at once; a pasted prompt is the largest of it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """What a page is built of: its HTML, and the hidden button that carries its actions."""

    html: gr.HTML
    payload: gr.JSON
    button: gr.Button


def add_panel(
    name: str,
    events: Events,
    act: Callable[..., Any],
    *,
    waiting: str = "…",
    wants_request: bool = False,
) -> Panel:
    """Put a panel into the app that is being built.

    act is given the user (and the request, if wanted) and the action as a dict, and returns the
    next HTML, or `gr.skip()` to leave it. What it raises is told in a notice, which a click
    closes.
    """

    def act_on(*values: Any) -> Any:
        *who, action = values
        if not isinstance(action, dict) or len(json.dumps(action)) > LARGEST_ACTION:
            raise gr.Error("This page sent something that it cannot have sent; load it again.")
        return act(*who, _storable(action))

    guarded = events.guarded(act_on, wants_request=wants_request)

    def told(request: gr.Request, action: Any) -> tuple[Any, Any]:
        # An error of an event without the queue is shown by Gradio as nothing but "Error".
        try:
            return guarded(request, action), ""
        except gr.Error as error:
            if error.print_exception:
                traceback.print_exception(error)
            return gr.skip(), _notice(error.message)

    notice = gr.HTML(elem_id=f"panel-{name}-notice")
    html = gr.HTML(
        Markup("<p class='waiting'>{}</p>").format(waiting),
        elem_id=f"panel-{name}",
        apply_default_css=False,
    )
    payload = gr.JSON(visible=False)
    button = gr.Button(visible="hidden", elem_id=f"act-{name}")
    sent = button.click(
        told,
        [payload],
        [html, notice],
        js=f"() => [window.evalbot.take({json.dumps(name)})]",
        queue=False,
        # Gradio's usual mode drops a press while another is under way.
        trigger_mode="multiple",
        show_progress="hidden",
        api_visibility="private",
    )
    done = f"() => window.evalbot.answered({json.dumps(name)})"
    sent.then(None, js=done, api_visibility="private")
    return Panel(html, payload, button)


def action_attribute(**action: Any) -> Markup:
    """`data-act` with this action, as an attribute of a button or form."""
    return Markup('data-act="{}"').format(json.dumps(action, ensure_ascii=False))


def keyed(key: object, content: Markup) -> Markup:
    """Content that is put in whole where the key is another one than before.

    Gradio changes what is on a page piece by piece, so that ticks and typed text would stay
    where other boxes and fields have come.
    """
    name = f"keyed-{fingerprint(repr(key))[:12]}"
    return Markup('<{} class="keyed">{}</{}>').format(name, content, name)


def _storable(value: Any) -> Any:
    """The same with texts that every database can keep: nobody types a NUL on purpose."""
    match value:
        case str():
            return clean_text(value)
        case list():
            return [_storable(one) for one in value]
        case dict():
            return {_storable(name): _storable(one) for name, one in value.items()}
    return value


def _notice(sentence: str) -> Markup:
    # The same sentence twice is another notice: the first may have been closed.
    return Markup('<div class="notice text" role="alert" data-at="{}">{}</div>').format(
        time.time_ns(), as_text(sentence)
    )
