"""People's verdicts against a judge's as a heat map whose cells open the answers behind them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalbot.auditing.judges import JudgeAudit
from evalbot.reporting.behind_audit import VerdictCell
from evalbot.stats.rounding import percent
from evalbot.ui.lead.audit_behind import fields_of_cell
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

DEEPEST = 60
"""Percent of colour in a cell that is its whole row: a number on it can still be read."""

HEAT = Markup("""\
<section class="table"><h2 class="text">{title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table class="heat">
<thead><tr><td></td><th scope="colgroup" colspan="{columns}">the judge said</th><td></td></tr>
<tr><th scope="col">people said</th>{head}<th scope="col" class="number">all</th></tr></thead>
<tbody>{rows}</tbody></table></div>
<ul class="notes"><li>A cell's share is of its row, of what people said; the larger, the deeper its
colour. Framed: both said the same. A number opens the answers behind it.</li></ul></section>
""")
CELL = Markup('<td class="{kind}" style="--share:{share}%">{inner}</td>')
BUTTON = Markup(
    '<button class="cell" data-panel="audit-behind" {act} title="{title}">{count}'
    ' <span class="quiet">{percent}</span></button>'
)


def heat_map(one: JudgeAudit, runs: Sequence[str]) -> Markup:
    """Rows: what people said; columns: what the judge said; runs: those that were audited."""
    labels = one.confusion.labels
    return HEAT.format(
        title=as_text(f"{one.name} against people, {one.n} answers with both verdicts"),
        columns=len(labels),
        head=Markup("").join(
            Markup('<th scope="col" class="number text">{}</th>').format(as_text(label))
            for label in labels
        ),
        rows=Markup("").join(
            _row(one, runs, label, row)
            for label, row in zip(labels, one.confusion.counts, strict=True)
        ),
    )


def _row(one: JudgeAudit, runs: Sequence[str], human: str, counts: Sequence[int]) -> Markup:
    total = sum(counts)
    cells = [
        _cell(VerdictCell(tuple(runs), one.name, human, said), number, total)
        for said, number in zip(one.confusion.labels, counts, strict=True)
    ]
    return Markup(
        '<tr><th scope="row" class="text">{}</th>{}<td class="number">{}</td></tr>'
    ).format(as_text(human), Markup("").join(cells), total)


def _cell(cell: VerdictCell, number: int, total: int) -> Markup:
    kind = "same" if cell.human == cell.said else ""
    if not number:
        return CELL.format(kind=kind, share=0, inner=Markup('<span class="quiet">0</span>'))
    share = number / total
    return CELL.format(
        kind=kind,
        share=round(DEEPEST * share),
        inner=BUTTON.format(
            act=action_attribute(do="open", **fields_of_cell(cell)),
            title=f"people: {cell.human}, {cell.judge}: {cell.said}",
            count=number,
            percent=percent(share),
        ),
    )
