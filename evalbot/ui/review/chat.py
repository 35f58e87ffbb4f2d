"""Blind chats for reviewers: whose answers they see is never told, not even afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import gradio as gr
from markupsafe import Markup

from evalbot.chatting.chats import ChatRefusedError, grade_answers, read_chat, vote
from evalbot.chatting.opening import join_chat, offered_chats
from evalbot.chatting.room import ChatRoom
from evalbot.domain.chats import Chat, ChatTurn, Transcript
from evalbot.domain.people import User
from evalbot.domain.settings import Config
from evalbot.errors import EvalbotError
from evalbot.store.database import Database
from evalbot.ui.chat_view import (
    BUTTON,
    answers_html,
    chosen_by,
    grades_by,
    joined,
    prompt_html,
    running_html,
    turn_of,
    vote_html,
)
from evalbot.ui.events import Events
from evalbot.ui.panel import action_attribute, add_panel
from evalbot.ui.text import as_text
from evalbot.ui.words import Words, translations, words_for

SHOWN_CHAT = "document.querySelector('#panel-review-chat [data-chat]')?.dataset.chat ?? ''"
OFFERS = Markup(
    '<details class="chat"{is_open}><summary>{title}</summary><p class="quiet">{intro}</p>{lines}'
    "</details>"
)


def build_review_chat(
    app: gr.Blocks, database: Database, read_config: Callable[[], Config], events: Events
) -> None:
    """Add to the app, which is being built, what reviewers chat with; unseen while nothing is open.

    read_config is called on the server when a prompt is sent; nothing of it reaches the page.
    """
    page = ReviewChat(database, read_config)
    translated = gr.I18n(**translations())
    panel = add_panel("review-chat", events, page.act, waiting="", wants_request=True)
    live = gr.HTML("", elem_id="panel-review-chat-live", apply_default_css=False)
    stop = add_panel("review-chat-stop", events, page.stop, waiting="")
    prompt = gr.Textbox(
        label=translated("chat_prompt"),
        placeholder=translated("chat_hint"),
        lines=1,
        max_lines=12,
        submit_btn=True,
        elem_id="review-chat-prompt",
    )
    shown = gr.JSON(visible=False)
    prompt.submit(
        events.guarded(page.send, wants_request=True),
        [prompt, shown],
        [panel.html, live, stop.html, prompt],
        js=f"(prompt, _) => [prompt, {SHOWN_CHAT}]",
        concurrency_limit=None,
        concurrency_id="review-chat",
        show_progress="hidden",
        api_visibility="private",
    )
    app.load(
        events.guarded(page.look, wants_request=True),
        None,
        [panel.html],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )


class ReviewChat:
    """What the page does for one reviewer at a time."""

    def __init__(self, database: Database, read_config: Callable[[], Config]) -> None:
        self._database = database
        self._read_config = read_config
        self._room = ChatRoom(database)

    def look(self, _user: User, request: gr.Request) -> Markup:
        """What is open; nothing where nothing is."""
        return self._offers(_words(request))

    def act(self, user: User, request: gr.Request, action: Mapping[str, Any]) -> Markup:
        """Begin a chat, vote, or go back to what is open."""
        words, chat = _words(request), str(action.get("chat", ""))
        match action.get("do"):
            case "begin":
                chat = join_chat(self._database, user, chat).id
            case "vote":
                turn = turn_of(self._read(user, chat), action.get("turn"))
                vote(self._database, user, chat, turn.number, chosen_by(turn, action.get("choice")))
            case "grade":
                turn = turn_of(self._read(user, chat), action.get("turn"))
                grade_answers(self._database, user, chat, turn.number, grades_by(turn, action))
            case _:
                return self._offers(words, is_open=True)
        return self._html(user, chat, words)

    def stop(self, user: User, action: Mapping[str, Any]) -> Any:
        """Stop all answers of a chat."""
        self._room.stop(user, str(action.get("chat")))
        return gr.skip()

    async def send(
        self, user: User, request: gr.Request, prompt: str, chat: str
    ) -> AsyncIterator[tuple[Any, ...]]:
        """Ask the next prompt of the chat that is shown."""
        words = _words(request)
        problem: str | None = None
        begun = False
        try:
            await asyncio.to_thread(self._read, user, chat)
            async with aclosing(self._room.ask(user, chat, prompt, self._read_config)) as snapshots:
                async for snapshot in snapshots:
                    if snapshot.is_done:
                        continue
                    if begun:
                        yield gr.skip(), gr.skip(), gr.skip(), gr.skip()
                        continue
                    html = await asyncio.to_thread(self._html, user, chat, words)
                    stop = BUTTON.format(action_attribute(do="stop", chat=chat), words("chat_stop"))
                    yield html, running_html(snapshot, words), stop, ""
                    begun = True
        except ChatRefusedError as error:
            problem = str(error)
        except EvalbotError:
            # Its words may name endpoints.
            problem = words("chat_unready")
        if begun:
            yield await asyncio.to_thread(self._html, user, chat, words), "", "", gr.skip()
        if problem is not None:
            raise gr.Error(problem, print_exception=False)

    def _read(self, user: User, chat: str) -> Transcript:
        transcript = read_chat(self._database, user, chat)
        if transcript.chat.origin is None:
            raise ChatRefusedError("this chat is not one that was opened to reviewers")
        return transcript

    def _html(self, user: User, chat: str, words: Words) -> Markup:
        running = self._room.running_turn(chat)
        transcript = self._read(user, chat)
        again = Markup("")
        if running is None:
            again = BUTTON.format(action_attribute(do="leave"), words("chat_again"))
        turns = joined(
            _turn(transcript, turn, words, is_running=turn.is_running(running))
            for turn in transcript.turns
        )
        return Markup(
            '<div class="chat" data-chat="{}"><h2>{}</h2><p class="quiet">{}</p>{}'
            '<p class="row">{}</p></div>'
        ).format(chat, words("chat"), words("chat_intro"), turns, again)

    def _offers(self, words: Words, *, is_open: bool = False) -> Markup:
        offered = offered_chats(self._database)
        if not offered:
            return (
                Markup('<p class="quiet">{}</p>').format(words("chat_none"))
                if is_open
                else Markup("")
            )
        return OFFERS.format(
            is_open=Markup(" open") if is_open else "",
            title=words("chat"),
            intro=words("chat_intro"),
            lines=joined(_offer(chat, words) for chat in offered),
        )


def _offer(chat: Chat, words: Words) -> Markup:
    told = words(
        "chat_offered",
        count=len(chat.settings.endpoints),
        name=chat.owner,
        date=f"{chat.created_at:%Y-%m-%d}",
    )
    begin = BUTTON.format(action_attribute(do="begin", chat=chat.id), words("chat_begin"))
    return Markup('<p class="row">{}<span>{}</span></p>').format(begin, as_text(told))


def _turn(transcript: Transcript, turn: ChatTurn, words: Words, *, is_running: bool) -> Markup:
    parts = [prompt_html(turn)]
    if not is_running:
        parts += [answers_html(transcript, turn, words), vote_html(transcript, turn, words)]
    return Markup('<section class="chat-turn">{}</section>').format(joined(parts))


def _words(request: gr.Request) -> Words:
    return words_for(request.headers.get("accept-language"))
