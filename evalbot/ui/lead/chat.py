"""Chat: one prompt to several endpoints side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import gradio as gr
from markupsafe import Markup

from evalbot.chatting.cases import add_case, add_suite, case_of, own_suites
from evalbot.chatting.chats import grade_answers, list_chats, read_chat, start_chat, vote
from evalbot.chatting.live import Stage
from evalbot.chatting.opening import close_to_reviewers, count_votes, open_to_reviewers
from evalbot.chatting.room import ChatRoom, Snapshot
from evalbot.domain.cases import Task
from evalbot.domain.chats import ChatSettings
from evalbot.domain.people import User
from evalbot.errors import InputError
from evalbot.formats.catalogue import list_rubrics
from evalbot.ui.chat_view import chosen_by, grades_by, running_html, turn_of
from evalbot.ui.lead.chat_view import (
    WORDS,
    CaseChoices,
    chat_html,
    counts_html,
    empty_html,
    stop_html,
)
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.panel import add_panel

SHOWN_CHAT = "document.querySelector('#panel-chat [data-chat]')?.dataset.chat ?? ''"
"""The page itself tells which chat it shows: that one is continued."""

GOOD = Markup('<p class="good" role="status">{}</p>')


SAMPLING = {
    "temperature": ("Temperature", None),
    "top_p": ("Top p", None),
    "max_tokens": ("Max. tokens", 0),
    "seed": ("Seed", 0),
}
"""What can be set for a chat: its label, and decimals (None: any)."""


def build_chat(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""
    page = ChatPage(site)
    # Hidden by the style sheet while a chat is shown: they are for a new one.
    with gr.Column(elem_id="chat-settings"):
        endpoints = gr.CheckboxGroup([], label="Who answers", elem_id="chat-endpoints")
        blind = gr.Checkbox(
            label="Blind: answers come together, names after the vote", elem_id="chat-blind"
        )
        with gr.Accordion("System prompt and sampling", open=False):
            system = gr.Textbox(label="System prompt", lines=2, max_lines=10, elem_id="chat-system")
            gr.HTML("What is left empty stays as evalbot.yaml has it.")
            with gr.Row():
                sampling = [
                    gr.Number(None, label=label, precision=precision, minimum=0, min_width=120)
                    for label, precision in SAMPLING.values()
                ]
    panel = add_panel("chat", site.events, page.act, waiting="")
    live = gr.HTML("", elem_id="panel-chat-live", apply_default_css=False)
    stop = add_panel("chat-stop", site.events, page.stop, waiting="")
    prompt = gr.Textbox(
        label="Prompt",
        placeholder="Enter sends, Shift+Enter begins a new line",
        lines=1,
        max_lines=12,
        submit_btn="Send",
        elem_id="chat-prompt",
    )
    shown = gr.JSON(visible=False)
    prompt.submit(
        site.events.guarded(page.send),
        [prompt, shown, endpoints, blind, system, *sampling],
        [panel.html, live, stop.html, prompt],
        js=f"(prompt, _, ...rest) => [prompt, {SHOWN_CHAT}, ...rest]",
        concurrency_limit=None,
        concurrency_id="chat",
        show_progress="hidden",
        api_visibility="private",
    )
    tab.select(
        site.events.guarded(page.look),
        [shown, endpoints],
        [panel.html, endpoints],
        js=f"(_, chosen) => [{SHOWN_CHAT}, chosen]",
        concurrency_limit=None,
        show_progress="hidden",
        api_visibility="private",
    )


class ChatPage:
    """What the page does; what is said in chats is shown as the record has it."""

    def __init__(self, site: LeadSite) -> None:
        self._site = site
        self._database = site.database
        self._room = ChatRoom(site.database)

    def look(self, user: User, shown: str, chosen: Sequence[str]) -> tuple[Markup, Any]:
        """The page as it is opened: the chat that it shows, and the endpoints of today."""
        names = [endpoint.name for endpoint in self._site.config().endpoints]
        kept = [name for name in names if name in (chosen or names)]
        return self._html(user, shown), gr.CheckboxGroup(choices=names, value=kept)

    def act(self, user: User, action: Mapping[str, Any]) -> Markup:
        """Everything but asking."""
        chat = str(action.get("chat", ""))
        match action.get("do"):
            case "new":
                return self._html(user, "")
            case "vote":
                self._vote(user, chat, action)
            case "grade":
                turn = turn_of(read_chat(self._database, user, chat), action.get("turn"))
                grade_answers(self._database, user, chat, turn.number, grades_by(turn, action))
            case "open":
                open_to_reviewers(self._database, user, chat)
            case "close":
                close_to_reviewers(self._database, user, chat)
            case "counts":
                return self._html(user, chat, counts_html(count_votes(self._database, user, chat)))
            case "case":
                return self._html(user, chat, GOOD.format(self._make_case(user, chat, action)))
        return self._html(user, chat)

    def stop(self, user: User, action: Mapping[str, Any]) -> Any:
        """Stop one endpoint's answer, or all."""
        endpoint = action.get("endpoint")
        self._room.stop(user, str(action.get("chat")), None if endpoint is None else str(endpoint))
        return gr.skip()

    async def send(
        self,
        user: User,
        prompt: str,
        shown: str,
        endpoints: Sequence[str],
        blind: bool,
        system: str | None,
        *sampling: float | None,
    ) -> AsyncIterator[tuple[Any, ...]]:
        """Ask the next prompt of the chat that is shown, or the first of a new one."""
        if not prompt.strip():
            raise InputError("there is nothing to ask: type a prompt first")
        chat = shown
        if not chat:
            given = {
                name: value
                for name, value in zip(SAMPLING, sampling, strict=True)
                if value is not None
            }
            settings = ChatSettings(tuple(endpoints), system, given)
            started = await asyncio.to_thread(
                lambda: start_chat(
                    self._database, user, self._site.config(), settings, is_blind=blind
                )
            )
            chat = started.id
        failure: Exception | None = None
        begun = False
        answering: tuple[str, ...] = ()
        try:
            async with aclosing(self._room.ask(user, chat, prompt, self._site.config)) as snapshots:
                async for snapshot in snapshots:
                    if snapshot.is_done:
                        continue
                    html: Any = gr.skip()
                    stops: Any = gr.skip()
                    if not begun:
                        html = await asyncio.to_thread(self._html, user, chat)
                    now = _answering(snapshot)
                    if not begun or now != answering:
                        stops = stop_html(chat, now)
                        answering = now
                    yield html, running_html(snapshot, WORDS), stops, gr.skip() if begun else ""
                    begun = True
        except Exception as error:  # told once the page is put right
            failure = error
        if begun:
            yield await asyncio.to_thread(self._html, user, chat), "", "", gr.skip()
        if failure is not None:
            raise failure

    def _vote(self, user: User, chat: str, action: Mapping[str, Any]) -> None:
        turn = turn_of(read_chat(self._database, user, chat), action.get("turn"))
        vote(self._database, user, chat, turn.number, chosen_by(turn, action.get("choice")))

    def _make_case(self, user: User, chat: str, action: Mapping[str, Any]) -> str:
        transcript = read_chat(self._database, user, chat)
        turn = turn_of(transcript, action.get("turn"))
        references = action.get("reference", [])
        texts = [references] if isinstance(references, str) else references
        earlier = turn.endpoint(str(action.get("earlier", "")))
        case = case_of(
            transcript, turn, str(action.get("key", "")), tuple(map(str, texts)), earlier
        )
        folder, suite = self._site.folder, str(action.get("suite", ""))
        if suite:
            path = add_case(folder, suite, case)
        else:
            path = add_suite(
                folder,
                str(action.get("name", "")),
                str(action.get("title", "")),
                Task(action.get("task", Task.CHAT)),
                str(action.get("rubric", "")),
                case,
            )
        return f"Case {case.key} was added to {path}."

    def _html(self, user: User, chat: str, note: Markup | str = "") -> Markup:
        lines = list_chats(self._database, user)
        if not chat:
            return empty_html(lines, has_endpoints=bool(self._site.config().endpoints))
        return chat_html(
            read_chat(self._database, user, chat),
            lines,
            CaseChoices(own_suites(self._site.folder), sorted(list_rubrics(self._site.folder))),
            self._room.running_turn(chat),
            note,
        )


def _answering(snapshot: Snapshot) -> tuple[str, ...]:
    return tuple(one.endpoint for one in snapshot.columns if one.stage is not Stage.DONE)
