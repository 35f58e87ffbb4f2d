"""The reviewers' app: one panel, whose HTML comes from the desk of who asks."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from evalbot.domain.people import User
from evalbot.domain.settings import Config
from evalbot.errors import EvalbotError, StoreError
from evalbot.reviewing.desk import Desk
from evalbot.store.database import Database
from evalbot.ui.events import BUG, Events
from evalbot.ui.panel import add_panel
from evalbot.ui.review.actions import Actions, whole_of
from evalbot.ui.review.chat import build_review_chat
from evalbot.ui.review.render import page
from evalbot.ui.top import top_line
from evalbot.ui.words import words_for


def build_review_app(
    database: Database, folder: Path, events: Events, read_config: Callable[[], Config]
) -> gr.Blocks:
    """The app; nothing in its tree depends on the record or the config."""
    desk = Desk(database)
    actions = Actions(database, folder)

    def act(user: User, request: gr.Request, action: Mapping[str, Any]) -> Any:
        words = words_for(request.headers.get("accept-language"))
        token = action.get("token")
        try:
            actions.act(user, action)
            problem = None
        except StoreError:
            # No token goes back: the page sends the same again until it is on record.
            raise
        except EvalbotError as error:
            # Told on the page, with the token: an action that was refused is not sent again.
            problem = str(error)
        except Exception:
            # It would fail again and again, and nothing after it would come through.
            traceback.print_exc()
            problem = BUG
        return page(desk.view(user, whole_of(action)), words, done=token, problem=problem)

    def keep_draft(user: User, action: Mapping[str, Any]) -> Any:
        actions.act(user, {**action, "do": "draft"})
        return gr.skip()

    def show(user: User, request: gr.Request) -> tuple[str, str]:
        words = words_for(request.headers.get("accept-language"))
        return top_line(user, words), page(desk.view(user), words)

    app: gr.Blocks
    with gr.Blocks(title="evalbot", analytics_enabled=False) as app:
        head = gr.HTML("", elem_id="panel-top")
        panel = add_panel("review", events, act, wants_request=True)
        add_panel("review-draft", events, keep_draft, waiting="")
        build_review_chat(app, database, read_config, events)
        app.load(
            events.guarded(show, wants_request=True),
            None,
            [head, panel.html],
            queue=False,
            show_progress="hidden",
            api_visibility="private",
        )
    return app
