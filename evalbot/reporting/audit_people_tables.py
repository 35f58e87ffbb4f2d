"""Reviewers among themselves, and automatic verdicts against them, as tables for people."""

from __future__ import annotations

from evalbot.auditing.audit import Audit
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.formats.tables.table import DASH
from evalbot.reporting.audit_shown import number, percents, signed, span
from evalbot.stats.rounding import percent

TEXT, COUNT, NUMBER, RATE = Kind.TEXT, Kind.COUNT, Kind.NUMBER, Kind.RATE


def raters_table(found: Audit) -> Table:
    """The reviewers among themselves."""
    raters = found.raters
    notes = [
        f"{raters.n} answers were graded by two people or more; Krippendorff's alpha over all "
        f"reviewers: nominal {number(raters.alpha_nominal) or DASH}, interval "
        f"{number(raters.alpha_interval) or DASH}"
    ]
    notes += [f"{name.replace('_', ', ')}: {why}" for name, why in raters.reasons.items()]
    return Table(
        f"{found.suite}: reviewers among themselves",
        (
            Column("a", "reviewer"),
            Column("b", "reviewer"),
            Column("n", "n", COUNT),
            Column("raw", "same verdict", RATE),
            Column("kappa", "kappa, quadratic", NUMBER),
        ),
        tuple((one.a, one.b, one.n, one.raw, number(one.kappa_quadratic)) for one in raters.pairs),
        tuple(notes),
    )


def reviewers_table(found: Audit) -> Table:
    """Each reviewer against what people said in the end."""
    rows: list[tuple[Value, ...]] = []
    for one in found.raters.each:
        own = one.leniency
        rows.append(
            (
                one.name,
                one.graded,
                None if own is None else own.n,
                None if own is None else signed(own.mean),
                None if own is None else span(own.low, own.high),
                None if own is None else f"{own.over} / {own.under}",
            )
        )
    return Table(
        f"{found.suite}: each reviewer against people's word in the end",
        (
            Column("name", "reviewer"),
            Column("graded", "graded", COUNT),
            Column("n", "with others", COUNT),
            Column("leniency", "leniency", NUMBER),
            Column("interval", "95 % interval", NUMBER),
            Column("over_under", "over / under", NUMBER),
        ),
        tuple(rows),
        (
            "leniency: mean of the reviewer − the word in the end (a lead's decision, else the "
            "majority, the reviewer's own vote among it), in credits, on answers that others "
            "graded, too",
        ),
    )


def bands_table(found: Audit) -> Table:
    """How often each automatic verdict is another one than people's."""
    return Table(
        f"{found.suite}: automatic verdicts against people",
        (
            Column("band", "automatic verdict"),
            Column("n", "n", COUNT),
            Column("errors", "people say otherwise", COUNT),
            Column("rate", "error", RATE),
            Column("interval", "95 % interval", NUMBER),
        ),
        tuple(
            (
                one.band,
                one.n,
                one.errors,
                one.errors / one.n,
                None if one.interval is None else percents(one.interval.low, one.interval.high),
            )
            for one in found.bands
        ),
    )


def threshold_table(found: Audit) -> Table:
    """Thresholds that would have met the wished error on the answers that people graded."""
    return Table(
        f"{found.suite}: ratios that would keep the error at {percent(found.wished_error)} or less",
        (
            Column("line", "references"),
            Column("verdict", "verdict"),
            Column("today", "ratio today", NUMBER),
            Column("proposed", "would do", NUMBER),
            Column("n", "answers from there", COUNT),
            Column("errors", "of them wrong", COUNT),
            Column("interval", "95 % interval", NUMBER),
            Column("seen", "answers seen", COUNT),
        ),
        tuple(
            (
                one.line,
                one.verdict,
                one.today,
                one.found.ratio if one.found else None,
                one.found.n if one.found else None,
                one.found.errors if one.found else None,
                percents(one.found.low, one.found.high) if one.found else None,
                one.seen,
            )
            for one in found.proposals
        ),
        (
            "measured on the answers that people graded, which the review may have drawn more "
            "from some bands than from others; a proposal over few answers is a guess: look at "
            "the interval",
        ),
    )
