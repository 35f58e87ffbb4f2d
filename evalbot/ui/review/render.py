"""The reviewer's page as HTML, from the desk's view alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from evalbot.domain.rubrics import Rubric, ScaleStep
from evalbot.reviewing.desk import DeskAnswer, DeskItem, DeskView
from evalbot.scoring.differences import ADDED, BOTH, differences
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text
from evalbot.ui.words import Words

SHOWN_AT_ONCE = 3
"""References that are seen at once; the others are a click away."""

OPEN_TURN = Markup("<h2>{}</h2><div class='text' lang='{}'>{}</div>")
FOLDED_TURN = Markup(
    "<details data-fold='system'><summary>{}</summary>"
    "<div class='text' lang='{}'>{}</div></details>"
)
OWN_KEYS = frozenset("cux?")
"""The page's own: comment, undo, cannot judge, help."""

DIGITS = "1234567890"
TICK_KEYS = "asdfghjkl"
"""Keys of checkpoints, first to last: none of them is a page's own key."""


def verdict_keys(rubric: Rubric) -> tuple[str, ...]:
    """The key of each verdict, as the script reads keys: the rubric's where it is free.

    Else its number, or the next digit that is; nothing where there is none left.
    """
    keys: list[str] = []
    for step in rubric.scale:
        own = unicodedata.normalize("NFKC", step.key).lower()
        keys.append(own if len(own) == 1 and own not in {*OWN_KEYS, *keys} else "")
    for place, key in enumerate(keys):
        if not key:
            wanted = DIGITS[place:] + DIGITS[:place]
            keys[place] = next((one for one in wanted if one not in keys), "")
    return tuple(keys)


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
        "<p class='saving quiet' data-saving='{saving}' data-offline='{offline}' "
        "data-signed-out='{signed_out}' role='status' hidden></p></div>"
    ).format(
        done=done or "",
        lang=words.language,
        alert=alert,
        body=body,
        saving=words("saving"),
        offline=words("offline"),
        signed_out=words("signed_out"),
    )


def _item(view: DeskView, item: DeskItem, words: Words) -> Markup:
    key = f"{item.campaign}:{item.number}"
    return Markup(
        "<div class='item' data-item='{key}' data-done-item='{is_done}'>"
        "{head}{practice}<div class='beside'><div>{case}"
        "<div class='answers' data-count='{count}'>{answers}</div>{foot}</div>{rubric}</div>"
        "{keys}{others}</div>"
    ).format(
        key=key,
        is_done="1" if item.is_done else "",
        head=_head(item, words),
        practice=_practice(item, words),
        case=_case(item, words),
        rubric=_rubric(item.rubric, words),
        count=len(item.answers),
        answers=Markup("").join(_answer(one, item, words) for one in item.answers),
        foot=_foot(item, words),
        keys=_keys(item.rubric, words),
        others=_others(view, words),
    )


def _head(item: DeskItem, words: Words) -> Markup:
    counts = item.counts
    share = 100 * counts.done / counts.total if counts.total else 0
    left = ""
    if item.seconds_left is not None and counts.open:
        left = " · " + words("time_left", time=_duration(item.seconds_left, words))
    return Markup(
        "<header class='head'><h1>{title}</h1>"
        "<div class='bar' role='progressbar' aria-valuenow='{done}' aria-valuemin='0' "
        "aria-valuemax='{total}'><i style='width:{share:.1f}%'></i></div>"
        "<p class='quiet' aria-live='polite'>{progress}{left}</p></header>"
    ).format(
        title=as_text(item.title),
        done=counts.done,
        total=counts.total,
        share=share,
        progress=words("progress", done=counts.done, total=counts.total),
        left=left,
    )


def _practice(item: DeskItem, words: Words) -> Markup:
    if not item.is_practice:
        return Markup("")
    return Markup("<p class='practice'><b>{}</b> {}</p>").format(
        words("practice"), words("practice_body")
    )


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
        _list("references", words("references"), case.references, target),
        _list("acceptable", words("acceptable"), case.acceptable, target),
        _list("notes", words("notes"), [case.notes] if case.notes else [], ""),
    )


def _list(name: str, title: str, texts: Sequence[str], lang: str) -> Markup:
    if not texts:
        return Markup("")
    lines = [
        Markup("<li class='text' lang='{}'>{}</li>").format(lang, as_text(text)) for text in texts
    ]
    more = Markup("")
    if len(lines) > SHOWN_AT_ONCE + 1:
        more = Markup("<details><summary>+{}</summary><ul>{}</ul></details>").format(
            len(lines) - SHOWN_AT_ONCE, Markup("").join(lines[SHOWN_AT_ONCE:])
        )
        lines = lines[:SHOWN_AT_ONCE]
    return Markup(
        "<details open data-fold='{}'><summary>{}</summary><ul>{}</ul>{}</details>"
    ).format(name, title, Markup("").join(lines), more)


def _rubric(rubric: Rubric, words: Words) -> Markup:
    steps = Markup("").join(
        Markup("<dt>{}</dt><dd>{}{}</dd>").format(
            _verdict(step),
            as_text(step.means),
            Markup("<details><summary>{}</summary><ul class='quiet'>{}</ul></details>").format(
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


def _verdict(step: ScaleStep) -> Markup:
    return Markup("{} {}").format(step.symbol, as_text(step.verdict))


def _answer(answer: DeskAnswer, item: DeskItem, words: Words) -> Markup:
    target = item.language.target or item.language.source or ""
    comment, ticked = answer.draft.comment, answer.draft.ticked
    title = words("answer", label=answer.label).strip()
    return Markup(
        "<article class='answer' data-id='{id}' data-fresh='{id}' data-graded='{graded}' "
        "tabindex='-1' aria-label='{title}'><h3>{title} <span class='chip'>{chip}</span></h3>"
        "{cut}<div class='text body' lang='{lang}'>{text}</div>{more}{differences}"
        "{checkpoints}{feedback}<div class='verdicts' role='group'>{verdicts}</div>"
        "<details class='note'{note_open}><summary>{comment_word} <kbd>c</kbd></summary>"
        "<textarea rows='3' maxlength='10000' aria-label='{comment_word}'>{comment}</textarea>"
        "<p class='quiet'>{hint}</p></details>"
        "<p class='changed warn' role='status' data-changed='{changed}'{unchanged}>{choose}</p>"
        "</article>"
    ).format(
        id=answer.id,
        graded="1" if answer.is_graded else "",
        title=title,
        chip=_chip(answer, item.rubric, words),
        cut=Markup("<p class='warn'>{}</p>").format(words("answer_cut_off"))
        if answer.is_truncated
        else "",
        lang=target,
        text=as_text(answer.text),
        more=_more(answer, words),
        differences=_differences(answer, item, words),
        checkpoints=_checkpoints(item, ticked, words),
        feedback=_feedback(answer, words),
        verdicts=_verdicts(answer, item.rubric, words),
        note_open=Markup(" open") if comment else "",
        comment_word=words("comment"),
        comment=comment,
        hint=words("comment_hint"),
        changed="1" if answer.is_changed else "",
        unchanged="" if answer.is_changed else Markup(" hidden"),
        choose=words("changed"),
    )


def _chip(answer: DeskAnswer, rubric: Rubric, words: Words) -> Markup:
    own = answer.own
    if own is None or not answer.is_graded:
        return Markup("")
    if own.verdict is None:
        return Markup("{}").format(words("cannot_judge"))
    step = next((one for one in rubric.scale if one.verdict == own.verdict), None)
    return Markup("{}").format(own.verdict) if step is None else _verdict(step)


def _more(answer: DeskAnswer, words: Words) -> Markup:
    if answer.length == len(answer.text):
        return Markup("")
    return Markup("<button {}>{}</button>").format(
        action_attribute(do="whole", id=answer.id), words("show_all", count=f"{answer.length:,}")
    )


def _differences(answer: DeskAnswer, item: DeskItem, words: Words) -> Markup:
    pieces = differences(answer.text, (*item.case.references, *item.case.acceptable))
    if pieces is None or answer.length > len(answer.text):
        return Markup("")
    shown = Markup("").join(
        as_text(piece.text)
        if piece.kind == BOTH
        else Markup("<ins>{}</ins>" if piece.kind == ADDED else "<del>{}</del>").format(
            as_text(piece.text)
        )
        for piece in pieces
    )
    return Markup(
        "<details class='differences' data-fold='differences'><summary>{}</summary>"
        "<div class='text' lang='{}'>{}</div></details>"
    ).format(words("differences"), item.language.target or item.language.source or "", shown)


def _checkpoints(item: DeskItem, ticked: Sequence[str], words: Words) -> Markup:
    if not item.checkpoints:
        return Markup("")
    free = [key for key in TICK_KEYS if key not in verdict_keys(item.rubric)]
    keys = [*free, *[""] * len(item.checkpoints)]
    lines = Markup("").join(
        Markup("<label><input type='checkbox' value='{}' data-key='{}'{}> {} {}</label>").format(
            line.id,
            key,
            Markup(" checked") if line.id in ticked else "",
            as_text(line.text),
            Markup("<kbd>{}</kbd>").format(key) if key else "",
        )
        for line, key in zip(item.checkpoints, keys, strict=False)
    )
    return Markup("<fieldset class='checkpoints'><legend>{}</legend>{}</fieldset>").format(
        words("checkpoints"), lines
    )


def _feedback(answer: DeskAnswer, words: Words) -> Markup:
    if answer.known is not None:
        is_right = answer.own is not None and answer.own.verdict == answer.known
        told = words("practice_right" if is_right else "practice_wrong", verdict=answer.known)
        return Markup("<p class='feedback {}' role='status'>{}</p>").format(
            "good" if is_right else "warn", told
        )
    if answer.judge_shown:
        if answer.judge is None:
            told = words("judge_none")
        else:
            told = words("judge_said", verdict=answer.judge)
        return Markup(
            "<p class='feedback' role='status'>{} <span class='quiet'>{}</span></p>"
        ).format(told, words("or_change"))
    return Markup("")


def _verdicts(answer: DeskAnswer, rubric: Rubric, words: Words) -> Markup:
    own = answer.own if answer.is_graded else None
    buttons = [
        _grade_button(
            answer, step.verdict, key, _verdict(step),
            is_chosen=own is not None and own.verdict == step.verdict,
        )
        for key, step in zip(verdict_keys(rubric), rubric.scale, strict=True)
    ]  # fmt: skip
    cannot = _grade_button(
        answer, None, "x", Markup("{}").format(words("cannot_judge")),
        is_chosen=own is not None and own.verdict is None,
    )  # fmt: skip
    return Markup("").join([*buttons, cannot])


def _grade_button(
    answer: DeskAnswer, verdict: str | None, key: str, label: Markup, *, is_chosen: bool
) -> Markup:
    return Markup(
        "<button class='verdict' data-key='{}' aria-pressed='{}' {}>{}{}</button>"
    ).format(
        key,
        "true" if is_chosen else "false",
        action_attribute(do="grade", id=answer.id, verdict=verdict),
        label,
        Markup(" <kbd>{}</kbd>").format(key) if key else "",
    )


def _foot(item: DeskItem, words: Words) -> Markup:
    here: dict[str, Any] = {"campaign": item.campaign, "item": item.number}
    waits = item.is_done and (item.is_practice or item.reveals)
    go_on = ""
    if waits and item.reveals and not item.is_practice:
        go_on = _button("keep", words("keep"), "Enter", main=True, **here)
    elif waits:
        go_on = _button("go_on", words("go_on"), "Enter", main=True, **here)
    return Markup("<nav class='foot row'>{}{}{}{}<span class='grow'></span>{}</nav>").format(
        _button("back", "← " + words("previous"), "", **here),
        _button("forward", words("next") + " →", "", **here),
        ""
        if item.last is None
        else _button("undo", words("undo"), "u", campaign=item.campaign, last=item.last),
        go_on,
        Markup("<button data-help data-key='?'>{} <kbd>?</kbd></button>").format(words("keys")),
    )


def _button(do: str, label: str, key: str, *, main: bool = False, **action: Any) -> Markup:
    return Markup("<button class='{}' data-key='{}' {}>{}{}</button>").format(
        "main" if main else "",
        key,
        action_attribute(do=do, **action),
        label,
        Markup(" <kbd>{}</kbd>").format(key) if key else "",
    )


def _keys(rubric: Rubric, words: Words) -> Markup:
    lines: Iterable[tuple[str, str]] = (
        (" ".join(verdict_keys(rubric)).strip(), words("key_verdict")),
        ("← →", words("key_arrows")),
        ("x", words("key_cannot")),
        ("u", words("key_undo")),
        ("c", words("key_comment")),
        (
            " ".join([key for key in TICK_KEYS if key not in verdict_keys(rubric)][:3]) + " …",
            words("key_tick"),
        ),
        ("?", words("key_help")),
    )
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
        "<p class='row'>{}{}</p></div>{}"
    ).format(
        words("done_title"),
        words("done_body", done=counts.done),
        held,
        _button("look_back", words("look_back"), "", campaign=view.current),
        _button("volunteer", words("volunteer"), "", campaign=view.current),
        _others(view, words),
    )


def _duration(seconds: float, words: Words) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return words("minutes", n=minutes)
    return words("hours", n=f"{seconds / 3600:.1f}")
