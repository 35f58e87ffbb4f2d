"""Judges against people, as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalbot.auditing.audit import Audit
from evalbot.auditing.judges import JudgeAudit
from evalbot.formats.tables import Column, Kind, Table, Value
from evalbot.reporting.audit_shown import effect_words, number, signed, span
from evalbot.stats.rounding import half_up

TEXT, COUNT, NUMBER, RATE = Kind.TEXT, Kind.COUNT, Kind.NUMBER, Kind.RATE
STATISTICS = {
    "raw": ("same verdict", "how often judge and people gave the same verdict"),
    "kappa": ("Cohen's kappa", "beyond chance, every difference counts alike"),
    "kappa_linear": ("kappa, linear", "differences count by how far apart the credits are"),
    "kappa_quadratic": ("kappa, quadratic", "far differences count most"),
    "alpha_nominal": ("Krippendorff's alpha, nominal", "like kappa, and takes missing grades"),
    "alpha_interval": ("Krippendorff's alpha, interval", "by squared distance of credits"),
    "ac1": ("Gwet's AC1", "holds where nearly all verdicts are the same and kappa collapses"),
    "ac2_linear": ("Gwet's AC2, linear", "AC1 with distances"),
    "ac2_quadratic": ("Gwet's AC2, quadratic", "AC1 with squared distances"),
}
"""By field, what readers call it and how it differs from the others."""

MOST_DISAGREEMENTS = 20


def summary_table(found: Audit) -> Table:
    """A line for each judge: is it right, is it lenient, does it like long answers or its own."""
    rows: list[tuple[Value, ...]] = []
    for one in found.judges:
        lenient, test = one.leniency, one.alt_test
        rows.append(
            (
                one.name,
                one.n,
                one.agreement.raw,
                number(_kappa(one)),
                None if lenient is None else signed(lenient.mean),
                None if lenient is None else span(lenient.low, lenient.high),
                None if lenient is None else f"{lenient.over} / {lenient.under}",
                effect_words(one.verbosity),
                effect_words(one.self_preference.effect),
                "passed" if test.passed else "not passed" if test.applicable else None,
                one.unscored,
                one.stale,
            )
        )
    return Table(
        f"{found.suite}: judges against people ({', '.join(found.runs)})",
        (
            Column("judge", "judge"),
            Column("n", "n", COUNT),
            Column("raw", "same verdict", RATE),
            Column("kappa", "kappa", NUMBER),
            Column("leniency", "leniency", NUMBER),
            Column("leniency_interval", "95 % interval", NUMBER),
            Column("over_under", "over / under", NUMBER),
            Column("verbosity", "per doubling of length", NUMBER),
            Column("self_preference", "own family", NUMBER),
            Column("alt_test", "alt-test"),
            Column("unscored", "no verdict", COUNT),
            Column("stale", "stale", COUNT),
        ),
        tuple(rows),
        tuple(_summary_notes(found)),
    )


def _summary_notes(found: Audit) -> Iterator[str]:
    yield (
        f"{found.reviewed} of {found.answers} answers were graded by people; people's word is a "
        "lead's decision, else the reviewers' majority; n: answers on which people (no tie) and "
        f"judge both have a verdict; rubric {found.rubric.name} @{found.rubric.version}"
    )
    yield from found.notes
    if found.judges:
        yield (
            "kappa: quadratic weights where the scale has credits; leniency: mean of judge − "
            "people, in credits; over / under: answers the judge graded higher / lower than people"
        )
        yield (
            "per doubling of length, own family: credits the judge adds, from one joint fit that "
            "holds people's verdict fixed; length in characters"
        )
    for one in found.judges:
        if one.self_preference.note:
            yield f"{one.name}, own family: {one.self_preference.note}"
        for name, reason in one.reasons.items():
            if name in ("leniency", "verbosity"):
                yield f"{one.name}, {name}: {reason}"
        if one.alt_test.applicable:
            test = one.alt_test
            yield (
                f"{one.name}, alt-test: may stand in for a reviewer where it wins against at "
                f"least half of them; won against {sum(each.rejected for each in test.each)} of "
                f"{test.humans}, advantage probability "
                f"{half_up(test.advantage_probability or 0, 2)} (epsilon {test.epsilon:g}, "
                f"{test.score})"
            )
        else:
            yield f"{one.name}, alt-test: {one.alt_test.reason}"
    old = {layer: count for layer, count in found.stale.items() if count}
    if old:
        told = ", ".join(f"{count} {layer}" for layer, count in old.items())
        yield f"stale: grades made under another rubric or reference are left out: {told}"


def _kappa(one: JudgeAudit) -> float | None:
    weighted = one.agreement.kappa_quadratic
    return one.agreement.kappa if weighted is None else weighted


def confusion_table(one: JudgeAudit) -> Table:
    """Rows: what people said; columns: what the judge said."""
    labels = one.confusion.labels
    return Table(
        f"{one.name}: people's verdicts (rows) and the judge's (columns)",
        (
            Column("human", "people"),
            *(Column(f"judge_{label}", f"judge: {label}", COUNT) for label in labels),
            Column("sum", "all", COUNT),
        ),
        tuple(
            (label, *row, sum(row)) for label, row in zip(labels, one.confusion.counts, strict=True)
        ),
    )


def agreement_table(one: JudgeAudit) -> Table:
    """All statistics side by side; a dash has its reason beside it."""
    return Table(
        f"{one.name}: agreement with people (n = {one.n})",
        (
            Column("statistic", "statistic"),
            Column("value", "value", NUMBER),
            Column("meaning", "what it tells"),
        ),
        tuple(
            (
                title,
                number(getattr(one.agreement, name)),
                one.agreement.reasons.get(name, meaning),
            )
            for name, (title, meaning) in STATISTICS.items()
        ),
    )


def bias_table(found: Audit) -> Table:
    """Per model, the judge's error and leniency beside what the model's answers cost."""
    rows: list[tuple[Value, ...]] = []
    for judge in found.judges:
        for one in judge.by_model:
            lenient = one.leniency
            rows.append(
                (
                    judge.name,
                    one.model,
                    one.n,
                    None if lenient is None else number(lenient.mean_absolute),
                    None if lenient is None else signed(lenient.mean),
                    None if lenient is None else span(lenient.low, lenient.high),
                    one.decode_tps_p50,
                    one.ttfot_ms_p50,
                    one.median_length,
                    _finishes(one.finishes),
                )
            )
    return Table(
        f"{found.suite}: the judges' error beside the models' speed",
        (
            Column("judge", "judge"),
            Column("model", "model"),
            Column("n", "n", COUNT),
            Column("error", "judge's error", NUMBER),
            Column("leniency", "leniency", NUMBER),
            Column("leniency_interval", "95 % interval", NUMBER),
            Column("decode_tps_p50", "tok/s", NUMBER),
            Column("ttfot_ms_p50", "first text ms", NUMBER, 0),
            Column("median_length", "characters", NUMBER, 0),
            Column("finishes", "ended by"),
        ),
        tuple(rows),
        (
            "judge's error: mean distance from people's verdict, in credits; leniency: the same "
            "with its sign; speed and length are medians over all answers of the model",
            *_favours_long(found),
        ),
    )


def _favours_long(found: Audit) -> Iterator[str]:
    """Whether models that answer longer, and so look slower, are lifted for it."""
    for one in found.judges:
        effect = one.verbosity
        if effect is None or effect.low is None or effect.high is None:
            continue
        if effect.low > 0:
            yield (
                f"{one.name} favours long answers: {effect_words(effect)} credits per doubling of "
                "length at the same quality; models that answer longer are lifted by it, and "
                "take longer to answer"
            )
        elif effect.high < 0:
            yield (
                f"{one.name} favours short answers: {effect_words(effect)} credits per doubling of "
                "length at the same quality"
            )
        else:
            yield f"{one.name}: no sign that it favours long answers ({effect_words(effect)})"


def _finishes(finishes: Mapping[str, int]) -> str:
    parts: Sequence[str] = [f"{name} {count}" for name, count in finishes.items()]
    return ", ".join(parts)


def checkpoint_table(found: Audit, judge: str) -> Table:
    """Lines of the rubric that judge and people read differently, worst first."""
    return Table(
        f"{judge}: lines of the rubric as it and people read them",
        (
            Column("id", "checkpoint"),
            Column("n", "n", COUNT),
            Column("agreement", "same reading", RATE),
            Column("judge_only", "only the judge: met", COUNT),
            Column("people_only", "only people: met", COUNT),
            Column("telling", "look at"),
        ),
        tuple(
            (
                line.id,
                line.n,
                line.agreement,
                line.judge_only,
                line.people_only,
                "; ".join(
                    f"{one.case}, {one.model} (judge: {'met' if one.judge_met else 'not met'}, "
                    f"people: {one.people_met} of {one.people} met)"
                    for one in line.telling
                )
                or None,
            )
            for line in found.checkpoints[judge]
        ),
    )


def disagreement_table(found: Audit) -> Table:
    """The worst disagreements of each judge with people."""
    shown = found.disagreements[:MOST_DISAGREEMENTS]
    left = len(found.disagreements) - len(shown)
    return Table(
        f"{found.suite}: where judge and people disagree, worst first",
        (
            Column("case", "case"),
            Column("model", "model"),
            Column("human", "people"),
            Column("judge", "judge says"),
            Column("judge_grader", "judge"),
        ),
        tuple((one.case, one.model, one.human, one.judge, one.judge_grader) for one in shown),
        (f"{left} more in the json format",) if left else (),
    )
