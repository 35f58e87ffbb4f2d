"""The leads' chat panel: what was said, earlier chats, opening to reviewers, making cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evalbot.domain.cases import Task
from evalbot.domain.chats import ALL_BAD, GRADED, TIE, ChatTurn, Transcript
from evalbot.formats.words import count
from evalbot.store.chats import ChatLine
from evalbot.ui.chat_view import BUTTON, answers_html, joined, prompt_html, vote_html
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text
from evalbot.ui.words import ALL

WORDS = ALL["en"]
LONGEST_TITLE = 80
OPTION = Markup('<option value="{0}">{1}</option>')
LIST = Markup(
    "<details><summary>Earlier chats ({})</summary><ul class='chat-list'>{}</ul></details>"
)
LINE = Markup(
    '<li><button type="button" {act}>{title}</button> <span class="quiet">{when} · {turns}{kind}'
    "</span></li>"
)
CASE = Markup("""<details class="chat-case"><summary>Make this a case</summary>
<form {act}><div class="fields">
<label>Suite <select name="suite">{suites}<option value="">a new suite …</option></select></label>
<label>Key <input name="key" required maxlength="100"></label>
{earlier}
</div>
<div class="fields chat-references">
<label>Reference <textarea name="reference" rows="3">{best}</textarea></label>
<label>Another reference <textarea name="reference" rows="3"></textarea></label>
<label>Another reference <textarea name="reference" rows="3"></textarea></label>
</div>
<details{is_new}><summary>For a new suite</summary><div class="fields">
<label>Name <input name="name" maxlength="100"></label>
<label>Title <input name="title" maxlength="200"></label>
<label>Task <select name="task">{tasks}</select></label>
<label>Rubric <select name="rubric">{rubrics}</select></label>
</div></details>
<p class="row"><button class="main">Add the case</button></p></form></details>""")


@dataclass(frozen=True, slots=True)
class CaseChoices:
    """What a case can be put into."""

    suites: Sequence[str]
    rubrics: Sequence[str]


def empty_html(lines: Sequence[ChatLine], *, has_endpoints: bool) -> Markup:
    """No chat is chosen: a new one begins with the next prompt."""
    hint = "Choose who answers, and type a prompt below."
    if not has_endpoints:
        hint = "evalbot.yaml has no endpoints to ask yet: add some there, and open this tab again."
    return Markup('<div class="chat">{}<p class="quiet">{}</p></div>').format(_list(lines), hint)


def chat_html(
    transcript: Transcript,
    lines: Sequence[ChatLine],
    choices: CaseChoices,
    running: int | None,
    note: Markup | str = "",
) -> Markup:
    """One chat. running: the turn that is being answered, of which only the prompt is shown."""
    head = Markup("") if running is not None else _head(transcript, lines)
    turns = joined(
        _turn(transcript, turn, choices, is_running=turn.is_running(running))
        for turn in transcript.turns
    )
    return Markup('<div class="chat" data-chat="{}">{}{}{}</div>').format(
        transcript.chat.id, head, note, turns
    )


def stop_html(chat: str, names: Sequence[str]) -> Markup:
    """Buttons that stop the endpoints still answering; without names (blind) all at once."""
    buttons = [
        BUTTON.format(
            action_attribute(do="stop", chat=chat, endpoint=name),
            Markup("Stop {}").format(as_text(name)),
        )
        for name in names
    ]
    if len(names) != 1:
        buttons.append(BUTTON.format(action_attribute(do="stop", chat=chat), "Stop all"))
    return Markup('<div class="row chat-stop">{}</div>').format(joined(buttons))


def counts_html(counts: dict[str, int]) -> Markup:
    """How reviewers voted."""
    names = {TIE: "alike", ALL_BAD: "all bad", GRADED: "each graded"}
    rows = joined(
        Markup('<tr><td>{}</td><td class="number">{}</td></tr>').format(
            as_text(names.get(choice, choice)), number
        )
        for choice, number in counts.items()
    )
    head = Markup("<tr><th>Best</th><th class='number'>Votes of reviewers</th></tr>")
    return Markup('<div class="scroll chat-votes"><table>{}{}</table></div>').format(head, rows)


def _head(transcript: Transcript, lines: Sequence[ChatLine]) -> Markup:
    chat = transcript.chat
    buttons = [BUTTON.format(action_attribute(do="new"), "New chat")]
    if chat.is_blind and chat.is_open:
        buttons.append(
            BUTTON.format(action_attribute(do="close", chat=chat.id), "Close it to reviewers")
        )
    elif chat.is_blind:
        buttons.append(
            BUTTON.format(action_attribute(do="open", chat=chat.id), "Open it to reviewers")
        )
    if chat.is_blind:
        buttons.append(
            BUTTON.format(action_attribute(do="counts", chat=chat.id), "Reviewers' votes")
        )
    told = "Open to reviewers: they ask these models in blind chats of their own." * chat.is_open
    return Markup('<div class="row">{}</div><p class="quiet">{}</p>{}').format(
        joined(buttons), told, _list(lines)
    )


def _list(lines: Sequence[ChatLine]) -> Markup:
    asked = [line for line in lines if line.prompt is not None]
    if not asked:
        return Markup("")
    return LIST.format(len(asked), joined(_line(line) for line in asked))


def _line(line: ChatLine) -> Markup:
    title = " ".join((line.prompt or "").split())
    if len(title) > LONGEST_TITLE:
        title = title[:LONGEST_TITLE] + "…"
    chat = line.chat
    return LINE.format(
        act=action_attribute(do="show", chat=chat.id),
        title=as_text(title),
        when=f"{chat.created_at:%Y-%m-%d %H:%M} UTC",
        turns=count(line.turns, "turn"),
        kind=" · blind" * chat.is_blind + " · open to reviewers" * chat.is_open,
    )


def _turn(
    transcript: Transcript, turn: ChatTurn, choices: CaseChoices, *, is_running: bool
) -> Markup:
    parts = [prompt_html(turn)]
    if not is_running:
        parts += [
            answers_html(transcript, turn, WORDS),
            vote_html(transcript, turn, WORDS),
            _case(transcript, turn, choices),
        ]
    return Markup('<section class="chat-turn">{}</section>').format(joined(parts))


def _case(transcript: Transcript, turn: ChatTurn, choices: CaseChoices) -> Markup:
    vote = turn.vote_of(transcript.chat.owner)
    best = turn.answers.get(vote.choice) if vote is not None else None
    return CASE.format(
        act=action_attribute(do="case", chat=transcript.chat.id, turn=turn.number),
        suites=_options(choices.suites),
        is_new="" if choices.suites else Markup(" open"),
        rubrics=_options(choices.rubrics),
        tasks=_options([str(task) for task in Task]),
        best=best.answer.text if best is not None else "",
        earlier=_earlier(transcript, turn),
    )


def _earlier(transcript: Transcript, turn: ChatTurn) -> Markup:
    if turn.number == 1 or not transcript.shows_names(turn):
        return Markup("")
    options = joined(
        OPTION.format(turn.label(name), Markup("as {} answered them").format(as_text(name)))
        for name in turn.order
    )
    return Markup(
        '<label>Earlier turns <select name="earlier"><option value="">leave them out</option>{}'
        "</select></label>"
    ).format(options)


def _options(names: Sequence[str]) -> Markup:
    return joined(OPTION.format(name, name) for name in names)
