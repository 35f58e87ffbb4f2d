"""The page of adjudication as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalbot.domain.runs import StoredGrade
from evalbot.reviewing.adjudication import Dispute, DisputedAnswer, Docket
from evalbot.ui.lead.parts import alert, choices, moment
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

MOST_LISTED = 100


def nothing_view() -> str:
    """Before anybody has graded."""
    return Markup("<p>{}</p>").format(
        "Nothing to decide: when people have graded, what they or the judge disagree on is here."
    )


def docket_view(docket: Docket, runs: Sequence[str], answer: int | None, shown: str) -> str:
    """The list of disputes beside the one that is looked at."""
    listed = docket.disputes[:MOST_LISTED]
    lines = Markup("").join(_line(docket, one, one.answer_id == answer) for one in listed)
    left = len(docket.disputes) - len(listed)
    return Markup(
        "<form class='row' data-live {}><label>Run {}</label> <span class='quiet'>{}</span></form>"
        "<div class='decide'><ol class='list'>{}{}</ol><div>{}</div></div>"
    ).format(
        action_attribute(do="show"),
        choices("run", {run: run for run in runs}, docket.run.id),
        f"{len(docket.open)} of {len(docket.disputes)} disagreements are open",
        lines,
        Markup("<li class='quiet'>and {} more</li>").format(left) if left else "",
        shown,
    )


def _line(docket: Docket, one: Dispute, is_current: bool) -> Markup:
    said = [f"{name}: {verdict}" for name, verdict in one.people]
    if one.judge is not None:
        said.append(f"judge: {one.judge}")
    decided = "" if one.decided is None else f" → {one.decided}"
    return Markup(
        "<li><button class='{}' {}>{}<br><span class='quiet'>{}{}</span></button></li>"
    ).format(
        "main" if is_current else "",
        action_attribute(do="show", run=docket.run.id, answer=one.answer_id),
        as_text(one.case),
        as_text(", ".join(said)),
        as_text(decided),
    )


def answer_view(found: DisputedAnswer, problem: str | None, reason: str) -> str:
    """One answer with its case, every grade it was given, and the form to decide."""
    basis, place = found.basis, found.recorded.place
    case = next(one for one in basis.suite.cases if one.key == place.case)
    language = basis.suite.language_of(case)
    target = language.target or language.source or ""
    return Markup(
        "<section class='card'>{alert}<h2>{case}</h2>"
        "<h3>Question</h3><div class='text' lang='{source}'>{question}</div>{references}{notes}"
        "<h3>Answer</h3><div class='text answer-text' lang='{target}'>{answer}</div>"
        "<details><summary>Whose it is</summary>{model}</details>"
        "<h3>Grades</h3><div class='scroll'><table><thead><tr><th>layer<th>grader<th>verdict"
        "<th>why<th>when</tr></thead><tbody>{grades}</tbody></table></div>"
        "<form data-fresh='{key}' {act}><label>Reason"
        "<textarea name='reason' rows='3' required>{reason}</textarea></label>"
        "<p class='row'>{verdicts}</p></form></section>"
    ).format(
        alert=alert(problem),
        case=as_text(case.key),
        source=language.source or "",
        question=as_text(basis.suite.conversation(case)[-1].content),
        references=_texts("Correct answers", case.references, target)
        + _texts("Tolerable answers", case.acceptable, target)
        + _texts("Known wrong answers", case.traps, target),
        notes=_texts("Notes", [case.notes] if case.notes else [], ""),
        target=target,
        answer=as_text(found.recorded.answer.text),
        model=as_text(place.endpoint),
        grades=Markup("").join(_grade(one, one.id in found.stale) for one in found.grades),
        act=action_attribute(
            do="decide", run=found.run.id, answer=found.grades[0].answer_id,
            last=found.last_grade,
        ),
        key=f"{found.grades[0].answer_id}:{found.last_grade}",
        reason=as_text(reason),
        verdicts=Markup("").join(
            Markup("<button name='verdict' value='{}'>{} {}</button>").format(
                step.verdict, step.symbol, as_text(step.verdict)
            )
            for step in basis.rubric.scale
        )
        + Markup("<button name='verdict' value=''>cannot be judged</button>"),
    )  # fmt: skip


def _texts(title: str, texts: Sequence[str], lang: str) -> Markup:
    if not texts:
        return Markup("")
    return Markup("<details open><summary>{}</summary><ul>{}</ul></details>").format(
        title,
        Markup("").join(
            Markup("<li class='text' lang='{}'>{}</li>").format(lang, as_text(text))
            for text in texts
        ),
    )


def _grade(one: StoredGrade, is_stale: bool) -> Markup:
    grade = one.grade
    said = grade.verdict or grade.unscored_reason or "–"
    if grade.unscored_reason == "not_graded":
        said = "taken back"
    ticks = [line["id"] for line in grade.checkpoints or () if line.get("met")]
    evidence = grade.evidence or {}
    why = [
        grade.rationale or "",
        f"“{grade.comment}”" if grade.comment else "",
        f"ticked: {', '.join(map(str, ticks))}" if ticks else "",
        f"ratio {evidence['ratio']:.1f}" if isinstance(evidence.get("ratio"), float) else "",
        ", ".join(map(str, evidence.get("flags", ()))),
        f"saw: {', '.join(grade.seen)}" if grade.seen else "",
    ]
    return Markup("<tr><td>{}<td>{}<td>{}{}<td class='text'>{}<td class='quiet'>{}</tr>").format(
        grade.layer,
        as_text(grade.grader),
        as_text(said),
        Markup(" <span class='warn'>stale</span>") if is_stale else "",
        as_text("\n".join(part for part in why if part)),
        moment(grade.at),
    )
