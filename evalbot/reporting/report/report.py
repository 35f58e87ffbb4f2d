"""A report as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evalbot import __version__
from evalbot.auditing.audit import AuditQuery
from evalbot.domain.settings import Config
from evalbot.formats.documents import (
    Block,
    Bullets,
    Code,
    Document,
    Figure,
    Paragraph,
    Section,
    read_foreword,
)
from evalbot.formats.words import count, in_a_sentence
from evalbot.reporting.audit_charts import leniency_chart, ranks_chart, rates_chart
from evalbot.reporting.audit_judge_tables import (
    agreement_table,
    bias_table,
    checkpoint_table,
    confusion_table,
    summary_table,
)
from evalbot.reporting.audit_people_tables import bands_table, raters_table, reviewers_table
from evalbot.reporting.charts import quality_speed_charts
from evalbot.reporting.compare_tables import pairs_table, ranks_table
from evalbot.reporting.figures import svg_of
from evalbot.reporting.findings import ahead_of, best_first, headline, steps, told_apart
from evalbot.reporting.rate_table import people_tables
from evalbot.reporting.report.gathered import CORRECTED, RunReport, gather_report
from evalbot.reporting.report.limits import limits_of
from evalbot.reporting.report.setting import asked_blocks, models_table, scale_table
from evalbot.reporting.speed_table import headline_tps
from evalbot.reporting.speed_table import people_tables as speed_tables
from evalbot.stats.rounding import percent
from evalbot.store.database import Database
from evalbot.transfer.masking import mask_for

LAYERS = {
    "auto": "by rules and fuzzy matching, without a model",
    "judge": "a strong model, by the written rubric",
    "human": "the majority of the people who graded",
    "adjudicated": "people, with a lead's decision where they disagreed",
    CORRECTED: "the judge's rate, corrected by what people said of a drawn sample",
}


def make_report(
    database: Database,
    config: Config,
    run_ids: Sequence[str],
    title: str | None = None,
    foreword: str = "",
) -> Document:
    """The report of these runs; without any, of the newest of each suite.

    foreword: what a lead wants to say first, in plain text.
    """
    query = AuditQuery()
    reports = gather_report(database, run_ids, config.folder, mask_for(config), query)
    suites = ", ".join(dict.fromkeys(one.run.suite.title for one in reports))
    sections: list[Section] = []
    for one in reports:
        sections += _sections(one)
    sections.append(_checking(reports))
    return Document(
        title=title or f"Language models compared: {suites}",
        lead=_lead(reports),
        sections=tuple(sections),
        foreword=read_foreword(foreword),
    )


def _lead(reports: Iterable[RunReport]) -> tuple[Paragraph, ...]:
    return tuple(Paragraph(_in_short(one), is_weighty=True) for one in reports)


def _in_short(one: RunReport) -> str:
    """Which model did best by which rate, and whether the data can tell."""
    run, rows = one.run, [row for row in one.rates[one.main] if row.rate.rate is not None]
    models, cases = count(len(run.endpoints), "model"), count(len(run.suite.cases), "case")
    asked = f"{run.suite.title}: {models}, {cases}."
    if not rows:
        return f"{asked} No model has a rate yet."
    best, rule = rows[0], one.basis.rubric.rate
    between = ""
    if best.rate.low is not None and best.rate.high is not None:
        between = f" ({_percents(best.rate.low, best.rate.high)})"
    word = "Lowest" if rule.direction == "lower" else "Highest"
    alike = [row.model for row in rows if row.rate.rate == best.rate.rate]
    names = " and ".join(alike)
    told = f" {word} {in_a_sentence(rule.title)}: {names}, {percent(best.rate.rate or 0.0)}"
    told += f"{between}, {one.main} layer ({LAYERS[one.main]})."
    if one.comparison is not None:
        layer = f"by the {one.comparison.layer} layer"
        if one.main == CORRECTED:
            layer = "by the judge's own verdicts, uncorrected"
        told += f" Compared pairwise {layer}, {headline(one.comparison)}."
        others = " and ".join(ahead_of(one.comparison, alike))
        if others:
            told += f" On the cases that both have a verdict on, {others} did better than {names}."
    return asked + told


def _sections(one: RunReport) -> Iterator[Section]:
    suite = one.run.suite
    yield Section(suite.title, tuple(asked_blocks(one.run, one.basis)))
    yield Section("The models and their settings", (models_table(one.run),), 3)
    yield Section("What the verdicts mean", (scale_table(one.basis.rubric),), 3)
    yield Section("Results", tuple(_results(one)), 3)
    if one.comparison is not None:
        yield Section("What the data can tell apart", tuple(_apart(one)), 3)
    yield Section("Speed", tuple(_speed(one)), 3)
    if one.audit is not None:
        yield Section("Is the judge right?", tuple(_audited(one)), 3)
    yield Section("Limits", (Bullets(tuple(limits_of(one))),), 3)


def _results(one: RunReport) -> Iterator[Block]:
    chart = rates_chart(one.rates[one.main])
    if chart is not None:
        yield Figure(svg_of(chart), f"Rates of the {one.main} layer with their 95 % intervals")
    yield Paragraph(f"To quote, the {one.main} layer: {LAYERS[one.main]}.", is_weighty=True)
    yield from people_tables(one.rates[one.main])
    others = {layer: rows for layer, rows in one.rates.items() if layer != one.main}
    if others:
        yield Paragraph("The other layers, kept apart from it and never averaged:")
    for layer, rows in others.items():
        yield Paragraph(f"{layer.capitalize()} layer: {LAYERS[layer]}.")
        yield from people_tables(rows)


def _apart(one: RunReport) -> Iterator[Block]:
    found = one.comparison
    assert found is not None
    yield Paragraph(headline(found)[0].upper() + headline(found)[1:] + ".", is_weighty=True)
    pairs = told_apart(found)
    if pairs:
        yield Paragraph("Supported by the data:")
        yield Bullets(tuple(pairs))
    if len(best_first(found)) > 1:
        yield Paragraph(f"The ranking by the {found.layer} layer, step by step:")
        yield Bullets(tuple(steps(found)))
    yield pairs_table(found)
    if found.ranks:
        yield ranks_table(found)
        chart = ranks_chart(found)
        if chart is not None:
            yield Figure(svg_of(chart), "How often each model holds each rank")


def _speed(one: RunReport) -> Iterator[Block]:
    if all(headline_tps(row) is None and row.ttfot_ms_p50 is None for row in one.speed):
        yield Paragraph("No times were recorded with these answers.")
        return
    yield from speed_tables(one.speed, ())
    for chart in quality_speed_charts(one.points).values():
        yield Figure(svg_of(chart), "Quality against decode speed, with 95 % intervals")


def _audited(one: RunReport) -> Iterator[Block]:
    found = one.audit
    assert found is not None
    yield summary_table(found)
    for judge in found.judges:
        yield confusion_table(judge)
        yield agreement_table(judge)
        if found.checkpoints.get(judge.name):
            yield checkpoint_table(found, judge.name)
    chart = leniency_chart(found)
    if chart is not None:
        yield Figure(svg_of(chart), "The judge's leniency to each model, with 95 % intervals")
    yield bias_table(found)
    yield raters_table(found)
    yield reviewers_table(found)
    if found.bands:
        yield bands_table(found)


def _checking(reports: Sequence[RunReport]) -> Section:
    ids = [one.run.id for one in reports]
    return Section(
        "How to check this report",
        (
            Paragraph(
                "Each rate stands with its signature: every setting that it depends on. Who holds "
                "the exported runs can take them into an empty database and make every table "
                "again; the sums in SHA256SUMS tell whether a file was changed."
            ),
            Code(
                "\n".join(
                    [
                        *(f"evalbot export {run} --output {run}    # who publishes" for run in ids),
                        *(f"evalbot import run {run}               # who checks" for run in ids),
                        f"evalbot report {' '.join(ids)}",
                    ]
                )
            ),
            Paragraph(f"Made with evalbot {__version__}; methods: docs/statistics.md there."),
        ),
    )


def _percents(low: float, high: float) -> str:
    return f"{percent(low).removesuffix(' %')} – {percent(high)}"
