"""The answers behind a cell: what was asked, what was said, and every grade of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from evalbot.domain.answers import AnswerStatus
from evalbot.formats.words import count
from evalbot.reporting.behind import Behind, Counted
from evalbot.reporting.seen import SeenAnswer, SeenGrade
from evalbot.stats.rounding import half_up
from evalbot.ui.lead.results_table import fields_of_cell
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

LONGEST_RAW = 2_000
"""Characters of a reply that could not be read as a grade."""

PAGE = Markup("""\
<section class="behind" data-opened="{key}">
<div class="row head"><h2 class="text">{title}</h2>{pager}
<button class="close" {close}>Close</button></div>{answers}<div class="row">{pager}</div></section>
""")
ANSWER = Markup("""\
<article><div class="row"><h3 class="text">{case}</h3>{badges}</div>
<div class="two"><div><h4>Asked</h4>{asked}{wanted}</div>
<div><h4>Answered</h4>{why}<div class="said text" dir="auto"{lang}>{text}</div>{reasoning}
<ul class="grades">{grades}</ul></div></div></article>
""")
BADGE = Markup('<span class="badge {}">{}</span>')
TEXT = Markup('<div class="text {}" dir="auto"{}>{}</div>')
FOLD = Markup("<details><summary>{}</summary>{}</details>")
GRADE = Markup("""\
<li{old}><span class="layer">{layer}</span> <span class="text">{grader}</span>
 <strong>{said}</strong> <span class="quiet text">{about}</span>{more}</li>
""")


def behind_view(behind: Behind, starts: Sequence[int]) -> Markup:
    """One page of them; starts: where this page and those before it begin."""
    cell = behind.cell
    what = cell.verdict if cell.counted is Counted.VERDICT else str(cell.counted)
    fields = fields_of_cell(cell)
    return answers_page(
        key=" ".join([*fields.values(), str(starts[-1])]),
        title=f"{cell.model}: {what}{f', {cell.tag}' if cell.tag else ''} ({cell.layer} layer)",
        pager=pager(fields, starts, behind.following),
        answers=Markup("").join(
            answer_view(one, heading_of(one), _badges(one)) for one in behind.answers
        )
        or _none(cell.counted),
    )


def answers_page(key: str, title: str, pager: Markup, answers: Markup) -> Markup:
    """Answers under a title, with a button that closes them; key: what is open."""
    return PAGE.format(
        key=key, title=as_text(title), pager=pager, answers=answers,
        close=action_attribute(do="close"),
    )  # fmt: skip


def _none(counted: Counted) -> Markup:
    words = "No answer is recorded here"
    if counted is Counted.UNSCORED:
        words += ": these cases were not asked yet"
    return Markup('<p class="quiet">{}.</p>').format(words)


def pager(
    fields: Mapping[str, str | list[str]], starts: Sequence[int], following: int | None
) -> Markup:
    """Back and next, where there is more than one page; fields: of the action that opens them."""
    if len(starts) == 1 and following is None:
        return Markup("")

    def button(words: str, to: Sequence[int]) -> Markup:
        disabled = Markup("") if to else Markup(" disabled")
        return Markup("<button {}{}>{}</button>").format(
            action_attribute(do="open", **fields, starts=list(to)), disabled, words
        )

    after = [] if following is None else [*starts, following]
    return Markup('{}<span class="quiet">page {}</span>{}').format(
        button("← Back", starts[:-1]), len(starts), button("Next →", after)
    )


def heading_of(seen: SeenAnswer) -> str:
    """The case, and which repeat where it is not the first."""
    place = seen.recorded.place
    return place.case + (f", repeat {place.repeat}" if place.repeat > 1 else "")


def answer_view(seen: SeenAnswer, heading: str, badges: Markup) -> Markup:
    """One answer with everything that was said of it."""
    answer = seen.recorded.answer
    why = answer.error_detail if answer.status is not AnswerStatus.OK else None
    reasoning = TEXT.format("quiet", "", as_text(answer.reasoning))
    return ANSWER.format(
        case=as_text(heading),
        badges=badges,
        asked=_asked(seen),
        wanted=_wanted(seen),
        why=TEXT.format("bad", "", as_text(why)) if why else "",
        lang=_lang(seen.language.target),
        text=as_text(answer.text) or Markup('<span class="quiet">–</span>'),
        reasoning=FOLD.format("Reasoning", reasoning) if answer.reasoning else "",
        grades=Markup("").join(_grade(one, seen) for one in seen.grades),
    )


def badge(words: str, kind: str = "") -> Markup:
    """A few words in a frame."""
    return BADGE.format(kind, as_text(words))


def _badges(seen: SeenAnswer) -> Markup:
    said, status = seen.said, seen.recorded.answer.status
    found = [badge(said.verdict or f"unscored: {said.reason}", "stale" if said.stale else "")]
    if said.stale:
        found.append(badge("stale", "warn"))
    if status is not AnswerStatus.OK:
        found.append(badge(str(status), "bad"))
    return Markup(" ").join(found)


def _asked(seen: SeenAnswer) -> Markup:
    lang = _lang(seen.language.source)
    *before, last = seen.conversation
    shown = TEXT.format("", lang, as_text(last.content))
    if not before:
        return shown
    turns = Markup("").join(
        TEXT.format("quiet", lang, as_text(f"{turn.role}: {turn.content}")) for turn in before
    )
    return FOLD.format(count(len(before), "turn") + " before", turns) + shown


def _wanted(seen: SeenAnswer) -> Markup:
    case, lang = seen.case, _lang(seen.language.target)
    lists = (
        ("References", case.references),
        ("Acceptable", case.acceptable),
        ("Traps", case.traps),
        ("Must not change", case.critical),
        ("Checkpoints", tuple(f"{line.id}: {line.text}" for line in case.checkpoints)),
        ("Choices", case.choices),
        ("Notes", (case.notes,) if case.notes else ()),
    )
    return Markup("").join(
        Markup("<h4>{}</h4><ul>{}</ul>").format(
            name,
            Markup("").join(
                Markup('<li class="text" dir="auto"{}>{}</li>').format(lang, as_text(text))
                for text in texts
            ),
        )
        for name, texts in lists
        if texts
    )


def _grade(seen: SeenGrade, answer: SeenAnswer) -> Markup:
    grade = seen.grade
    evidence = grade.evidence or {}
    return GRADE.format(
        old=Markup(' class="old"') if seen.is_replaced or seen.is_stale else "",
        layer=grade.layer,
        grader=as_text("" if grade.grader == grade.layer else f"{grade.grader}:"),
        said=as_text(grade.verdict or f"unscored: {grade.unscored_reason}"),
        about=as_text(", ".join(_about(seen, evidence, answer))),
        more=Markup("").join(_more(seen, evidence)),
    )


def _about(seen: SeenGrade, evidence: Mapping[str, Any], answer: SeenAnswer) -> Iterable[str]:
    if seen.is_replaced:
        yield "replaced since"
    if seen.is_stale:
        yield "stale: given under an older text"
    if isinstance(evidence.get("ratio"), int | float):
        yield f"ratio {half_up(evidence['ratio'], 1)}"
        yield count(int(evidence.get("edits", 0)), "edit")
        if answer.chrf is not None and not seen.is_replaced:
            yield f"chrF {half_up(answer.chrf, 1)}"
    if evidence.get("cap"):
        yield f"capped by {evidence['cap']}"
    yield from map(str, evidence.get("flags") or ())
    votes = evidence.get("votes")
    if isinstance(votes, Mapping) and len(votes) > 1:
        yield "votes " + ", ".join(f"{times} {word}" for word, times in sorted(votes.items()))
    yield f"{seen.grade.at:%Y-%m-%d %H:%M} UTC"


def _more(seen: SeenGrade, evidence: Mapping[str, Any]) -> Iterable[Markup]:
    grade = seen.grade
    if evidence.get("nearest"):
        kind = str(evidence.get("nearest_kind", "reference"))
        yield TEXT.format("quiet", "", as_text(f"nearest {kind}: {evidence['nearest']}"))
    for words in (grade.rationale, grade.comment):
        if words:
            yield TEXT.format("words", "", as_text(words))
    yield from _checkpoints(grade.checkpoints or ())
    if evidence.get("detail"):
        yield TEXT.format("quiet", "", as_text(str(evidence["detail"])))
    if evidence.get("raw") and grade.verdict is None:
        yield FOLD.format(
            "Its own words", TEXT.format("quiet", "", as_text(str(evidence["raw"])[:LONGEST_RAW]))
        )


def _checkpoints(lines: Sequence[Mapping[str, Any]]) -> Iterable[Markup]:
    for line in lines:
        met = "–" if line.get("met") is None else "✓" if line["met"] else "✗"
        quote = f" “{line['quote']}”" if line.get("quote") else ""
        yield TEXT.format("quiet", "", as_text(f"{met} {line.get('id', '')}{quote}"))


def _lang(tag: str | None) -> Markup:
    return Markup(' lang="{}"').format(tag) if tag else Markup("")
