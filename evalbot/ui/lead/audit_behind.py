"""The answers behind an audit, over the page: what was said, and all grades with their reasons."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalbot.formats.words import count
from evalbot.reporting.behind_audit import BehindCell, VerdictCell
from evalbot.reporting.seen import SeenAnswer
from evalbot.ui.fields import Action, required, text, texts
from evalbot.ui.lead.behind_view import answer_view, answers_page, badge, heading_of, pager
from evalbot.ui.panel import action_attribute

OPENER = Markup('<button class="cell" data-panel="audit-behind" {} title="{}">{}</button>')


def fields_of_cell(cell: VerdictCell) -> dict[str, str | list[str]]:
    """An action's fields; `cell_of` reads them back."""
    return {"runs": list(cell.runs), "judge": cell.judge, "human": cell.human, "said": cell.said}


def cell_of(action: Action) -> VerdictCell:
    """The cell that a button names."""
    return VerdictCell(
        runs=texts(action, "runs"),
        judge=required(action, "judge"),
        human=text(action, "human") or "",
        said=text(action, "said") or "",
    )


def opener(run: str, answer: int, words: Markup, title: str) -> Markup:
    """A button that opens one answer; words: what stands on it."""
    return OPENER.format(action_attribute(do="one", run=run, answer=answer), title, words)


def cell_view(found: BehindCell, starts: Sequence[int]) -> Markup:
    """One page of a cell's answers; starts: where this page and those before it begin."""
    cell, fields = found.cell, fields_of_cell(found.cell)
    answers = [answer_view(one, _heading(one), _badges(cell, run)) for run, one in found.answers]
    return answers_page(
        key=f"{fields} {starts[-1]}",
        title=(f"People: {cell.human}, {cell.judge}: {cell.said} ({count(found.n, 'answer')})"),
        pager=pager(fields, starts, found.following),
        answers=Markup("").join(answers) or Markup('<p class="quiet">None any more.</p>'),
    )


def one_view(run: str, answer: int, seen: SeenAnswer) -> Markup:
    """One answer alone."""
    return answers_page(
        key=f"{run} {answer}",
        title=_heading(seen),
        pager=Markup(""),
        answers=answer_view(seen, run, Markup("")),
    )


def _heading(seen: SeenAnswer) -> str:
    return f"{heading_of(seen)}, {seen.recorded.place.endpoint}"


def _badges(cell: VerdictCell, run: str) -> Markup:
    return badge(run) if len(cell.runs) > 1 else Markup("")
