"""The part of the Audit page about a judge: in words, against people, by model, by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from evalbot.auditing.audit import Audit
from evalbot.auditing.judges import JudgeAudit
from evalbot.formats.tables import Column
from evalbot.reporting.audit_charts import calibration_chart, drawn, leniency_chart
from evalbot.reporting.audit_judge_tables import (
    agreement_table,
    bias_table,
    checkpoint_table,
    disagreement_table,
    summary_table,
)
from evalbot.reporting.audit_words import judge_sentences, stale_sentence
from evalbot.reporting.probe_table import probe_table
from evalbot.ui.lead.audit_behind import opener
from evalbot.ui.lead.audit_heat import heat_map
from evalbot.ui.lead.charts import pictures
from evalbot.ui.lead.results_form import sentence
from evalbot.ui.table import CellHtml, table_html
from evalbot.ui.text import as_text

WORDS = Markup('<section class="card"><h2 class="text">{}</h2><ul class="plain">{}</ul></section>')
CARDS = Markup('<div class="cards">{}</div>')
LINE = Markup('<li class="text">{}</li>')


NOT_PROBED = (
    "{judge} was not probed by today's rubric: evalbot judge {run} --probe all tells whether its "
    "verdicts move where nothing should move them."
)


def judge_view(found: Audit, judge: str, figures: bool) -> Markup:
    """Everything that the audit says of this judge, and beside it of the others."""
    return Markup("").join(_parts(found, judge, figures))


def _parts(found: Audit, judge: str, figures: bool) -> Iterator[Markup]:
    chosen = next(one for one in found.judges if one.name == judge)
    own = replace(
        found,
        judges=(chosen,),
        disagreements=tuple(one for one in found.disagreements if one.judge_grader == judge),
    )
    yield CARDS.format(Markup("").join(map(_in_words, found.judges)))
    yield table_html(summary_table(found))
    yield Markup('<p class="text">{}</p>').format(as_text(stale_sentence(found)))
    yield heat_map(chosen, found.runs)
    if figures:
        yield pictures(drawn({"Calibration": calibration_chart(found, chosen)}))
    yield table_html(agreement_table(chosen))
    yield table_html(bias_table(own))
    if figures:
        yield pictures(drawn({"Leniency": leniency_chart(found)}))
    yield table_html(disagreement_table(own), _opened_by_case(own))
    if found.checkpoints.get(judge):
        yield table_html(checkpoint_table(found, judge), _opened_by_line(found, judge))
    probes = found.probes.get(judge)
    if probes is None:
        yield sentence(NOT_PROBED.format(judge=judge, run=found.runs[0]))
    else:
        yield table_html(probe_table(probes.results))


def _in_words(one: JudgeAudit) -> Markup:
    family = "" if one.family is None else f" ({one.family})"
    return WORDS.format(
        as_text(one.name + family),
        Markup("").join(LINE.format(as_text(sentence)) for sentence in judge_sentences(one)),
    )


def _opened_by_case(found: Audit) -> CellHtml:
    def cell(number: int, column: Column, words: Markup) -> Markup:
        one = found.disagreements[number]
        if column.name != "case":
            return words
        return opener(one.run, one.answer, words, f"the answer of {one.model} to {one.case}")

    return cell


def _opened_by_line(found: Audit, judge: str) -> CellHtml:
    """The telling answers of a line are buttons."""

    def cell(number: int, column: Column, words: Markup) -> Markup:
        line = found.checkpoints[judge][number]
        if column.name != "telling" or not line.telling:
            return words
        return Markup("<br>").join(
            opener(
                one.run,
                one.answer,
                as_text(f"{one.case}, {one.model}"),
                f"the answer of {one.model} to {one.case}",
            )
            + Markup(' <span class="quiet">{}</span>').format(
                f"judge: {'met' if one.judge_met else 'not met'}, people: {one.people_met} of "
                f"{one.people} met"
            )
            for one in line.telling
        )

    return cell
