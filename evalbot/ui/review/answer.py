"""One answer on the reviewer's page: its text, what is said about it, and the keys to say it by."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from markupsafe import Markup

from evalbot.domain.rubrics import Rubric, ScaleStep
from evalbot.reviewing.desk import DeskAnswer, DeskItem
from evalbot.scoring.differences import ADDED, BOTH, differences
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text
from evalbot.ui.words import Words

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


def verdict_words(step: ScaleStep) -> Markup:
    """A verdict with its sign."""
    return Markup("{} {}").format(step.symbol, as_text(step.verdict))


def answer_card(answer: DeskAnswer, item: DeskItem, words: Words) -> Markup:
    """One answer with everything that is said about it."""
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
        feedback=_feedback(answer, item.rubric, words),
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
    return Markup("{}").format(own.verdict) if step is None else verdict_words(step)


def _more(answer: DeskAnswer, words: Words) -> Markup:
    if answer.length == len(answer.text):
        return Markup("")
    return Markup("<button {}>{}</button>").format(
        action_attribute(do="whole", id=answer.id), words("show_all", count=f"{answer.length:,}")
    )


def _differences(answer: DeskAnswer, item: DeskItem, words: Words) -> Markup:
    if answer.length > len(answer.text):
        return Markup("")
    for texts, key in (
        (item.case.references, "same_as_reference"),
        (item.case.acceptable, "same_as_acceptable"),
    ):
        if answer.text.strip() in {one.strip() for one in texts}:
            return Markup("<p class='quiet same'>{}</p>").format(words(key))
    pieces = differences(answer.text, (*item.case.references, *item.case.acceptable))
    if pieces is None:
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
        "<details class='differences'><summary>{}</summary><div class='text' lang='{}'>{}</div>"
        "<p class='quiet'><ins>{}</ins> <del>{}</del></p></details>"
    ).format(
        words("differences"),
        item.language.target or item.language.source or "",
        shown,
        words("only_here"),
        words("only_there"),
    )


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


def _feedback(answer: DeskAnswer, rubric: Rubric, words: Words) -> Markup:
    if answer.known is not None:
        said = answer.own.verdict if answer.own is not None else None
        if said == answer.known:
            return Markup("<p class='feedback good' role='status'>{}</p>").format(
                words("practice_right", verdict=answer.known)
            )
        means = next((one.means for one in rubric.scale if one.verdict == answer.known), "")
        return Markup(
            "<p class='feedback warn' role='status'>{}<br><span class='quiet'>{}</span></p>"
        ).format(
            words("practice_wrong", said=said or words("cannot_judge"), verdict=answer.known),
            as_text(means),
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
            answer, step.verdict, key, verdict_words(step),
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
