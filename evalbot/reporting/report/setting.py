"""What was asked, of which models with which settings, and what the verdicts mean."""

from __future__ import annotations

from collections.abc import Iterator

from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run
from evalbot.formats.documents import Block, Bullets, Code, Paragraph
from evalbot.formats.tables import Column, Kind, Table
from evalbot.formats.words import count, in_a_sentence
from evalbot.grading.basis import Basis
from evalbot.reporting.run_table import in_words

LONGEST = 3_000
"""Characters of the example; a prompt may be a whole book."""


def asked_blocks(run: Run, basis: Basis) -> Iterator[Block]:
    """The suite, how it was asked, and one case as an example."""
    suite = run.suite
    if suite.description:
        yield Paragraph(suite.description)
    source, target = suite.language.source, suite.language.target
    languages = " to ".join(one for one in (source, target) if one)
    clusters = len({case.cluster for case in suite.cases if case.cluster})
    facts = [
        f"run {run.id}, begun {run.started_at:%Y-%m-%d}, {run.state}"
        + (f", label {run.label}" if run.label else ""),
        f"suite {suite.name}, task {suite.task}"
        + (f", {languages}" if languages else "")
        + f": {count(len(suite.cases), 'case')}"
        + (f" from {count(clusters, 'document')}" if clusters else "")
        + (f", each asked {run.repeats} times" if run.repeats > 1 else ""),
        f"rubric {basis.rubric.name}, version {basis.rubric.version}",
        f"asked with evalbot {run.version}",
    ]
    if suite.licence:
        facts.append(f"licence of the cases: {suite.licence}")
    yield Bullets(tuple(facts))
    if suite.cases:
        case = suite.cases[0]
        yield Paragraph(f"What is sent for a case, here {case.key}:")
        turns = [f"[{turn.role}] {turn.content}" for turn in suite.conversation(case)]
        text = "\n".join(turns)
        yield Code(text if len(text) <= LONGEST else f"{text[:LONGEST]} …")


def models_table(run: Run) -> Table:
    """The endpoints with everything that decides their answers or their speed."""
    columns = (
        Column("model", "model"),
        Column("model_id", "served as"),
        Column("family", "family"),
        Column("quantisation", "quantisation"),
        Column("hardware", "hardware"),
        Column("slot_context", "context", Kind.COUNT),
        Column("slots", "slots", Kind.COUNT),
        Column("asked", "sampling and thinking"),
        Column("fingerprint", "model fingerprint"),
    )
    rows = tuple(
        (
            one.name,
            one.model_id,
            one.family,
            one.quantisation,
            one.hardware,
            one.slot_context,
            one.slots,
            in_words(one.settings) or None,
            None if one.model_fingerprint is None else one.model_fingerprint[:8],
        )
        for one in run.endpoints
    )
    notes = tuple(
        f"{one.name} stopped: {one.stopped_reason}" for one in run.endpoints if one.stopped_reason
    )
    return Table("Models", columns, rows, notes)


def scale_table(rubric: Rubric) -> Table:
    """The scale, and how verdicts become the rate."""
    rate = rubric.rate
    return Table(
        f"{rubric.title} (rubric {rubric.name}, version {rubric.version})",
        (
            Column("verdict", "verdict"),
            Column("means", "means"),
            Column("credit", "credit", Kind.NUMBER),
            Column("weight", f"counts in the {in_a_sentence(rate.title)}", Kind.NUMBER),
        ),
        tuple(
            (f"{step.symbol} {step.verdict}".strip(), step.means, _plain(step.credit),
             _plain(rate.weights[step.verdict]))
            for step in rubric.scale
        ),
        (f"{rate.title}: the mean of these weights over the scored cases, {rate.direction} is "
         "better",),
    )  # fmt: skip


def _plain(value: float | None) -> str | None:
    return None if value is None else f"{value:g}"
