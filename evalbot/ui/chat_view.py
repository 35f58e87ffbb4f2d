"""Chats as HTML: prompts, answers side by side, votes. Names only where they may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from evalbot.chatting.live import Column, Stage
from evalbot.chatting.room import Snapshot
from evalbot.domain.answers import Answer, AnswerStatus
from evalbot.domain.chats import (
    ALL_BAD,
    GRADED,
    GRADES,
    TIE,
    ChatTurn,
    Transcript,
    Vote,
    label_at,
)
from evalbot.domain.writing import language_of
from evalbot.errors import InputError
from evalbot.formats.words import count
from evalbot.stats.rounding import half_up
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text
from evalbot.ui.words import Words

UNKNOWN = "–"
LONGEST_SHOWN = 200_000
"""Characters of one text: the page is sent anew with every vote."""

COLUMNS = Markup('<div class="chat-columns">{}</div>')
ANSWER = Markup('<article class="chat-answer"><h3>{label}{name}</h3>{body}</article>')
TEXT = Markup('<div class="text" lang="{}">{}</div>')
NOTE = Markup('<p class="{}">{}</p>')
THOUGHT = Markup(
    '<details><summary>Thinking ({})</summary><div class="text quiet">{}</div></details>'
)
BUTTON = Markup('<button type="button" {}>{}</button>')
STAGES = {
    Stage.WAITING: "waiting for its turn …",
    Stage.LOOKING: "looking at the server …",
    Stage.READING: "reading the prompt …",
    Stage.THINKING: "thinking …",
    Stage.WRITING: "writing …",
    Stage.RETRYING: "trying again …",
}
ENDINGS = {
    AnswerStatus.TRUNCATED: "cut off by its length limit",
    AnswerStatus.CANCELLED: "stopped",
    AnswerStatus.EMPTY: "an empty answer",
    AnswerStatus.NO_ANSWER_BUDGET: "all its tokens went into thinking",
    AnswerStatus.THINKING_UNCLOSED: "its thinking never ended",
    AnswerStatus.CONTEXT_OVERFLOW: "the chat does not fit its context",
}


def joined(parts: Iterable[Markup]) -> Markup:
    """These parts one after another."""
    return Markup("").join(parts)


def text_html(text: str) -> Markup:
    """Somebody's text, in the fonts of its language; the start of one that is endless."""
    rest = len(text) - LONGEST_SHOWN
    shown = TEXT.format(language_of(text), as_text(text[:LONGEST_SHOWN]))
    if rest > 0:
        shown += NOTE.format("warn", f"… and {count(rest, 'more character')}")
    return shown


def running_html(snapshot: Snapshot, words: Words) -> Markup:
    """A turn that is being answered; of a blind one only that it is."""
    if not snapshot.columns:
        waiting = words("chat_answering", count=snapshot.asked)
        return Markup('<p class="chat-running" role="status">{}</p>').format(waiting)
    return COLUMNS.format(
        joined(_running(label_at(at), column) for at, column in enumerate(snapshot.columns))
    )


def prompt_html(turn: ChatTurn) -> Markup:
    """What was asked."""
    return Markup('<div class="chat-prompt">{}</div>').format(text_html(turn.prompt))


def answers_html(transcript: Transcript, turn: ChatTurn, words: Words) -> Markup:
    """All answers of a turn side by side, under their letters."""
    shows_names = transcript.shows_names(turn)
    if turn.was_stopped and not shows_names:
        return NOTE.format("quiet", words("chat_stopped"))
    return COLUMNS.format(
        joined(_answer(turn, endpoint, words, shows_names) for endpoint in turn.order)
    )


def vote_html(transcript: Transcript, turn: ChatTurn, words: Words) -> Markup:
    """What may be voted, or what was."""
    vote = turn.vote_of(transcript.chat.owner)
    if vote is not None:
        return NOTE.format(
            "chat-voted good", words("chat_voted", choice=_said_in(turn, vote, words))
        )
    if turn.was_stopped:
        is_told = transcript.shows_names(turn) and transcript.chat.is_blind
        return NOTE.format("quiet", words("chat_stopped")) if is_told else Markup("")
    if not turn.contenders:
        return NOTE.format("quiet", words("chat_alone")) if len(turn.order) > 1 else Markup("")
    letters = [turn.label(name) for name in turn.order if name in turn.contenders]
    buttons = [(letter, words("chat_best", label=letter)) for letter in letters]
    buttons += [(TIE, words("chat_tie")), (ALL_BAD, words("chat_all_bad"))]
    chat = transcript.chat.id
    return Markup('<div class="row chat-vote"><b>{}</b>{}</div>{}').format(
        words("chat_which"),
        joined(
            BUTTON.format(
                action_attribute(do="vote", chat=chat, turn=turn.number, choice=choice), label
            )
            for choice, label in buttons
        ),
        _grading(chat, turn, letters, words),
    )


def _grading(chat: str, turn: ChatTurn, letters: Sequence[str], words: Words) -> Markup:
    """A form to grade each answer instead."""
    rows = joined(
        Markup('<div class="row"><b>{}</b>{}</div>').format(
            letter,
            joined(
                Markup(
                    '<label><input type="radio" name="{}" value="{}" required> {}</label>'
                ).format(letter, grade, words(f"chat_{grade}"))
                for grade in GRADES
            ),
        )
        for letter in letters
    )
    return Markup(
        '<details class="chat-grade"><summary>{}</summary><form data-fresh="{}" {}>{}'
        "<button>{}</button></form></details>"
    ).format(
        words("chat_grade_each"),
        f"{chat}:{turn.number}",
        action_attribute(do="grade", chat=chat, turn=turn.number),
        rows,
        words("chat_grade_save"),
    )


def grades_by(turn: ChatTurn, action: Mapping[str, Any]) -> dict[str, str]:
    """What the form of a turn said of each answer, by endpoint."""
    return {name: str(action.get(turn.label(name), "")) for name in turn.contenders}


def _said_in(turn: ChatTurn, vote: Vote, words: Words) -> str:
    """A vote in words: the best, or each answer's grade."""
    if vote.choice != GRADED:
        return _choice(turn, vote.choice, words)
    return ", ".join(
        f"{turn.label(name)} {words(f'chat_{vote.grades[name]}')}"
        for name in turn.order
        if name in vote.grades
    )


def turn_of(transcript: Transcript, number: object) -> ChatTurn:
    """The turn of this number, as a page sent it."""
    for turn in transcript.turns:
        if turn.number == number:
            return turn
    raise InputError("this chat has no such turn (any more); load the page again")


def chosen_by(turn: ChatTurn, choice: object) -> str:
    """What a vote button meant: an endpoint, or one of the other two choices."""
    text = str(choice)
    return text if text in (TIE, ALL_BAD) else turn.endpoint(text) or ""


def speed_line(answer: Answer) -> str:
    """How fast an answer was, in one line."""
    timing = answer.timing
    parts = [
        f"first word after {_seconds(timing.ttfot_ms)}",
        f"reading {_rate(timing.prefill_tps)}",
        f"writing {_rate(timing.decode_tps)}",
        UNKNOWN + " tokens"
        if answer.usage.completion_tokens is None
        else count(answer.usage.completion_tokens, "token"),
        f"{_seconds(timing.total_ms)} in all",
    ]
    return " · ".join(parts)


def _running(label: str, column: Column) -> Markup:
    if column.answer is not None:
        return _shown(label, column.endpoint, _said(column.answer.answer))
    stage = STAGES.get(column.stage, "")
    if column.thought:
        stage = f"{stage} ({count(column.thought, 'character')} of thinking)"
    note = NOTE.format("quiet chat-stage", stage)
    return _shown(label, column.endpoint, text_html(column.text) + note)


def _answer(turn: ChatTurn, endpoint: str, words: Words, shows_names: bool) -> Markup:
    label, said = turn.label(endpoint), turn.answers.get(endpoint)
    if shows_names:
        body = NOTE.format("bad", "no answer on record") if said is None else _said(said.answer)
        return _shown(label, endpoint, body)
    if said is None or not said.answer.text.strip():
        return _shown(label, None, NOTE.format("quiet", words("chat_no_answer")))
    body = text_html(said.answer.text)
    if said.answer.status is AnswerStatus.TRUNCATED:
        body += NOTE.format("warn", words("answer_cut_off"))
    return _shown(label, None, body)


def _shown(label: str, endpoint: str | None, body: Markup) -> Markup:
    name = Markup(' <span class="quiet">{}</span>').format(as_text(endpoint)) if endpoint else ""
    return ANSWER.format(label=label, name=name, body=body)


def _said(answer: Answer) -> Markup:
    parts = []
    if answer.reasoning.strip():
        length = count(len(answer.reasoning), "character")
        parts.append(THOUGHT.format(length, as_text(answer.reasoning)))
    parts.append(text_html(answer.text))
    if answer.status is not AnswerStatus.OK:
        known = ENDINGS.get(answer.status, str(answer.status).replace("_", " "))
        words = f"{known}: {answer.error_detail}" if answer.error_detail else known
        kind = "warn" if answer.text.strip() else "bad"
        parts.append(NOTE.format(kind, as_text(words)))
    if answer.text or answer.usage.completion_tokens is not None:
        parts.append(NOTE.format("quiet chat-speed", speed_line(answer)))
    return joined(parts)


def _choice(turn: ChatTurn, choice: str, words: Words) -> str:
    if choice in (TIE, ALL_BAD):
        return words(f"chat_{choice}")
    return words("chat_best", label=turn.label(choice))


def _seconds(milliseconds: float | None) -> str:
    return f"{UNKNOWN} s" if milliseconds is None else f"{half_up(milliseconds / 1000, 2)} s"


def _rate(rate: float | None) -> str:
    return f"{UNKNOWN if rate is None else half_up(rate, 1)} tokens/s"
