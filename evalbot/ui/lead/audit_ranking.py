"""The part of the Audit page about the ranking: which models the data can tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from evalbot.auditing.comparing import Comparison
from evalbot.auditing.retesting import Changed
from evalbot.formats.words import count
from evalbot.reporting.audit_charts import drawn, ranks_chart
from evalbot.reporting.compare_tables import pairs_table, ranks_table
from evalbot.reporting.findings import headline, steps
from evalbot.ui.lead.charts import pictures
from evalbot.ui.table import table_html
from evalbot.ui.text import as_text

MOST_CHANGED = 100
FIRST = Markup('<p class="weighty text">{}.</p>')
STEPS = Markup('<section class="card"><h2>The ranking, step by step</h2><ol>{}</ol></section>')
STEP = Markup('<li class="text">{}</li>')
CHANGED = Markup("""\
<section class="changed"><h2>What has changed: {told}</h2>{answers}{more}</section>
""")
ANSWER = Markup("""\
<article><h3 class="text">{head}</h3><div class="two">{before}{after}</div></article>
""")
SIDE = Markup(
    '<div><h4>{}: <strong class="text">{}</strong></h4><div class="said text" dir="auto">{}</div>'
    "</div>"
)


def ranking_view(found: Comparison, figures: bool) -> Markup:
    """The comparison of a run's models, or of the run with the one that it asks again."""
    return Markup("").join(_retest(found) if len(found.runs) == 2 else _models(found, figures))


def _models(found: Comparison, figures: bool) -> Iterator[Markup]:
    told = headline(found)
    yield FIRST.format(as_text(told[0].upper() + told[1:]))
    taken = [STEP.format(as_text(step)) for step in steps(found)]
    if taken:
        yield STEPS.format(Markup("").join(taken))
    yield table_html(pairs_table(found))
    if found.ranks:
        yield table_html(ranks_table(found))
        if figures:
            yield pictures(drawn({"Probability of each rank": ranks_chart(found)}))


def _retest(found: Comparison) -> Iterator[Markup]:
    yield table_html(pairs_table(found))
    left = len(found.changed) - MOST_CHANGED
    runs = " ".join(found.runs)
    yield CHANGED.format(
        told=f"{count(len(found.changed), 'answer')} with another verdict than before",
        answers=Markup("").join(_changed(one) for one in found.changed[:MOST_CHANGED]),
        more=Markup('<p class="quiet text">{} more: evalbot compare {} --format json</p>').format(
            left, as_text(runs)
        )
        if left > 0
        else "",
    )


def _changed(one: Changed) -> Markup:
    repeat = f", repeat {one.repeat}" if one.repeat > 1 else ""
    return ANSWER.format(
        head=as_text(f"{one.case}, {one.model}{repeat}"),
        before=SIDE.format("Before", as_text(one.verdict_before), as_text(one.before)),
        after=SIDE.format("Now", as_text(one.verdict_after), as_text(one.after)),
    )
