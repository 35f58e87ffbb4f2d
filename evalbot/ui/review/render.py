"""The reviewer's page as HTML, from the desk's view alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from evalbot.domain.rubrics import Rubric
from evalbot.reviewing.desk import DeskItem, DeskView
from evalbot.ui.guard import SIGN_IN
from evalbot.ui.panel import action_attribute
from evalbot.ui.review.answer import TICK_KEYS, answer_card, verdict_keys, verdict_words
from evalbot.ui.text import as_text
from evalbot.ui.words import Words

SHOWN_AT_ONCE = 2
"""References that are seen at once; the others are a click away."""

OPEN_TURN = Markup("<h2>{}</h2><div class='text' lang='{}'>{}</div>")
FOLDED_TURN = Markup(
    "<details data-fold='system'><summary>{}</summary>"
    "<div class='text' lang='{}'>{}</div></details>"
)


def page(
    view: DeskView, words: Words, *, done: str | None = None, problem: str | None = None
) -> str:
    """What the panel shows. done: the token of the action that led here; problem: what was wrong.

    The script takes an action for done when its token comes back.
    """
    if view.item is not None:
        body = _item(view, view.item, words)
    elif view.current is not None:
        body = _end(view, words)
    else:
        body = Markup("<div class='calm'><h2>{}</h2><p>{}</p></div>").format(
            words("nothing_title"), words("nothing_body")
        )
    alert = Markup("<p role='alert' class='bad'>{}</p>").format(as_text(problem)) if problem else ""
    return Markup(
        "<div class='review' data-done='{done}' lang='{lang}'>{alert}{body}"
        "<p class='saving quiet' data-offline='{offline}' "
        "data-signed-out='{signed_out}' data-sign-in='{sign_in}' "
        "data-sign-in-words='{sign_in_words}' role='status' hidden></p></div>"
    ).format(
        sign_in=SIGN_IN,
        sign_in_words=words("sign_in"),
        done=done or "",
        lang=words.language,
        alert=alert,
        body=body,
        offline=words("offline"),
        signed_out=words("signed_out"),
    )


def _item(view: DeskView, item: DeskItem, words: Words) -> Markup:
    key = f"{item.campaign}:{item.number}"
    return Markup(
        "<div class='item' data-item='{key}' data-done-item='{is_done}'>"
        "{head}{welcome}<div class='beside'><div>{case}"
        "<div class='answers' data-count='{count}'>{answers}</div>{foot}</div>{rubric}</div>"
        "{keys}{others}</div>"
    ).format(
        key=key,
        is_done="1" if item.is_done else "",
        head=_head(item, words),
        welcome=_welcome(item, words),
        case=_case(item, words),
        rubric=_rubric(item.rubric, words),
        count=len(item.answers),
        answers=Markup("").join(answer_card(one, item, words) for one in item.answers),
        foot=_foot(view, item, words),
        keys=_keys(item, words),
        others=_others(view, words),
    )


def _head(item: DeskItem, words: Words) -> Markup:
    counts = item.counts
    share = 100 * counts.done / counts.total if counts.total else 0
    told = [words("practice")]
    if not item.is_practice:
        told = [
            words("item_of", number=item.number + 1, items=item.items),
            words("progress", done=counts.done, total=counts.total),
        ]
        if item.seconds_left is not None and counts.open:
            told.append(words("time_left", time=_duration(item.seconds_left, words)))
    return Markup(
        "<header class='head'><h1>{title}</h1><p class='quiet' aria-live='polite'>{told}</p>"
        "<div class='bar' role='progressbar' aria-valuenow='{done}' aria-valuemin='0' "
        "aria-valuemax='{total}'><i style='width:{share:.1f}%'></i></div></header>"
    ).format(
        title=as_text(item.title),
        done=counts.done,
        total=counts.total,
        share=share,
        told=" · ".join(told),
    )


def _welcome(item: DeskItem, words: Words) -> Markup:
    """What is to be known before the first grade, and where practice ends."""
    if item.is_practice:
        return Markup("<p class='welcome'>{}</p>").format(words("practice_body"))
    if not item.begins:
        return Markup("")
    key = "practice_over" if item.had_practice else "welcome"
    return Markup("<p class='welcome'>{}</p>").format(words(key))


def _case(item: DeskItem, words: Words) -> Markup:
    roles = {"system": "system_role", "user": "question", "assistant": "assistant_role"}
    turns = Markup("").join(
        (FOLDED_TURN if turn.role == "system" else OPEN_TURN).format(
            words(roles.get(turn.role, "question")),
            "" if turn.role == "system" else (item.language.source or ""),
            as_text(turn.content),
        )
        for turn in item.turns
    )
    case = item.case
    target = item.language.target or item.language.source or ""
    return Markup("<section class='case'>{}{}{}{}</section>").format(
        turns,
        _list("references", words, case.references, target),
        _list("acceptable", words, case.acceptable, target),
        _list("notes", words, [case.notes] if case.notes else [], ""),
    )


def _list(name: str, words: Words, texts: Sequence[str], lang: str) -> Markup:
    if not texts:
        return Markup("")
    lines = [
        Markup("<li class='text' lang='{}'>{}</li>").format(lang, as_text(text)) for text in texts
    ]
    more = Markup("")
    if len(lines) > SHOWN_AT_ONCE + 1:
        more = Markup(
            "<details data-fold='more-{}'><summary>{}</summary><ul>{}</ul></details>"
        ).format(
            name,
            words("more", count=len(lines) - SHOWN_AT_ONCE),
            Markup("").join(lines[SHOWN_AT_ONCE:]),
        )
        lines = lines[:SHOWN_AT_ONCE]
    return Markup(
        "<details open data-fold='{}'><summary>{}</summary><ul>{}</ul>{}</details>"
    ).format(name, words(name), Markup("").join(lines), more)


def _rubric(rubric: Rubric, words: Words) -> Markup:
    steps = Markup("").join(
        Markup("<dt>{}</dt><dd>{}{}</dd>").format(
            verdict_words(step),
            as_text(step.means),
            Markup(
                "<details data-fold='examples-{}'><summary>{}</summary>"
                "<ul class='quiet'>{}</ul></details>"
            ).format(
                step.verdict,
                words("examples"),
                Markup("").join(
                    Markup("<li class='text'>{}</li>").format(as_text(one)) for one in step.examples
                ),
            )
            if step.examples
            else "",
        )
        for step in rubric.scale
    )
    return Markup(
        "<aside class='rubric'><details open data-fold='rubric'><summary>{}</summary>"
        "<dl>{}</dl></details></aside>"
    ).format(words("rubric"), steps)


def _foot(view: DeskView, item: DeskItem, words: Words) -> Markup:
    here: dict[str, Any] = {"campaign": item.campaign, "item": item.number}
    go_on = Markup("")
    if item.is_done and item.reveals and not item.is_practice:
        go_on = _button("keep", words("keep"), "Enter", main=True, **here)
    elif item.is_done:
        go_on = _button("go_on", words("go_on"), "Enter", main=True, **here)
    return Markup("<nav class='foot row'>{}{}{}{}<span class='grow'></span>{}</nav>").format(
        _button("back", "← " + words("previous"), "", off=item.is_first, **here),
        _button("forward", words("next") + " →", "", off=item.is_last, **here),
        _undo(view, words),
        go_on,
        Markup("<button data-help data-key='?'>{} <kbd>?</kbd></button>").format(words("keys")),
    )


def _undo(view: DeskView, words: Words) -> Markup:
    if view.last is None:
        return Markup("")
    return _button("undo", words("undo"), "u", campaign=view.current, last=view.last)


def _button(
    do: str, label: str, key: str, *, main: bool = False, off: bool = False, **action: Any
) -> Markup:
    return Markup("<button class='{}' data-key='{}'{} {}>{}{}</button>").format(
        "main" if main else "",
        key,
        Markup(" disabled") if off else "",
        action_attribute(do=do, **action),
        label,
        Markup(" <kbd>{}</kbd>").format(key) if key else "",
    )


def _keys(item: DeskItem, words: Words) -> Markup:
    taken = verdict_keys(item.rubric)
    lines: list[tuple[str, str]] = [
        (" ".join(taken).strip(), words("key_verdict")),
        ("← →", words("key_arrows")),
        ("x", words("key_cannot")),
        ("u", words("key_undo")),
        ("c", words("key_comment")),
        ("Enter", words("key_enter")),
        ("?", words("key_help")),
    ]
    if item.checkpoints:
        free = [key for key in TICK_KEYS if key not in taken][: len(item.checkpoints)]
        lines.insert(2, (" ".join(free), words("key_tick")))
    rows = Markup("").join(
        Markup("<tr><td><kbd>{}</kbd></td><td>{}</td></tr>").format(key, told)
        for key, told in lines
    )
    return Markup(
        "<div class='keys' role='dialog' aria-label='{}' hidden><table>{}</table>"
        "<button data-help>{}</button></div>"
    ).format(words("keys"), rows, words("close"))


def _others(view: DeskView, words: Words) -> Markup:
    others = [one for one in view.choices if one.campaign != view.current]
    if not others:
        return Markup("")
    lines = Markup("").join(
        Markup("<li><button {}>{}</button> <span class='quiet'>{}</span></li>").format(
            action_attribute(do="choose", campaign=one.campaign),
            as_text(one.title),
            words("progress", done=one.counts.done, total=one.counts.total),
        )
        for one in others
    )
    return Markup("<details class='others'><summary>{}</summary><ul>{}</ul></details>").format(
        words("other_work"), lines
    )


def _end(view: DeskView, words: Words) -> Markup:
    counts = next(one.counts for one in view.choices if one.campaign == view.current)
    held = Markup("<p>{}</p>").format(words("held_body", count=counts.held)) if counts.held else ""
    return Markup(
        "<div class='calm'><p class='tick' aria-hidden='true'>✓</p><h2>{}</h2><p>{}</p>{}"
        "<p class='row'>{}{}{}</p></div>{}"
    ).format(
        words("done_title"),
        words("done_body", done=counts.done),
        held,
        _undo(view, words),
        _button("look_back", words("look_back"), "", campaign=view.current),
        _button("volunteer", words("volunteer"), "", campaign=view.current),
        _others(view, words),
    )


def _duration(seconds: float, words: Words) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return words("minutes", n=minutes)
    return words("hours", n=f"{seconds / 3600:.1f}")
