"""What a report's figures do not show, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evalbot.auditing.audit import Audit
from evalbot.auditing.comparing import Comparison
from evalbot.domain.runs import RunState
from evalbot.reporting.audit_shown import effect_words, signed, span
from evalbot.reporting.findings import headline
from evalbot.reporting.report.gathered import CORRECTED, RunReport
from evalbot.stats.rounding import percent

FEW_CASES = 100


def limits_of(one: RunReport) -> Iterator[str]:
    """Sample sizes, what is unscored, what cannot be told apart, the judge's measured bias."""
    run, rows = one.run, one.rates[one.main]
    counts = [row.rate.n for row in rows]
    if counts:
        least, most = min(counts), max(counts)
        n = str(least) if least == most else f"{least} to {most}"
        few = "; small samples leave wide intervals" if most < FEW_CASES else ""
        yield f"n: {n} cases scored per model in the {one.main} layer{few}."
    if run.state in (RunState.RUNNING, RunState.STOPPED):
        yield "The run is not finished: what was not asked is unscored."
    yield from _unscored(one)
    if one.comparison is not None:
        yield from _order(one.comparison, one.main)
    if run.repeats == 1:
        yield (
            "Each case was asked once: how much an answer changes when it is asked again is not "
            "known."
        )
    if one.main == "auto":
        yield (
            "The verdicts are automatic; no judge's and no person's grades stand behind this rate."
        )
    if one.main == "judge":
        yield "The verdicts are a judge model's." + (
            " Its measured errors stand above; the rate is not corrected for them."
            if one.audit is not None
            else " Nobody has checked them: its errors are not known."
        )
    if one.main == CORRECTED:
        yield (
            "The corrected rate is about these cases; other cases would add their own "
            "uncertainty, which the plain intervals of the other layers hold."
        )
    if one.audit is not None:
        yield from _judges(one.audit)
    hardware = {endpoint.hardware for endpoint in run.endpoints}
    if len(hardware) > 1 or None in hardware:
        yield "Speeds compare only on the same hardware; see the settings."


def _order(found: Comparison, main: str) -> Iterator[str]:
    tested = [pair for pair in found.pairs if pair.p is not None]
    rest = "" if all(pair.separable for pair in tested) else "; no other order is supported"
    yield f"Order: {headline(found)}{rest}."
    if main == CORRECTED:
        yield (
            "The order was tested on the judge's own verdicts, from which its measured errors are "
            "not taken away."
        )


def _unscored(one: RunReport) -> Iterator[str]:
    reasons: Counter[str] = Counter()
    for row in one.rates[one.main]:
        reasons.update(row.rate.reasons)
    if reasons:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        yield (
            f"Unscored answers, in no rate: {told}. The min – max columns tell what the rates "
            "could be, whatever their verdicts."
        )
    else:
        yield "No answer is unscored."


def _judges(found: Audit) -> Iterator[str]:
    for judge in found.judges:
        lenient = judge.leniency
        told = f"Judge {judge.name}, on {judge.n} answers that people graded: "
        if judge.agreement.raw is None:
            yield told + "no agreement can be measured."
            continue
        told += f"same verdict {percent(judge.agreement.raw)}"
        if lenient is not None:
            inside = span(lenient.low, lenient.high)
            told += f"; leniency {signed(lenient.mean)} credits" + (
                f" ({inside})" if inside else ""
            )
        words = effect_words(judge.verbosity)
        if words:
            told += f"; {words} credits per doubling of length"
        words = effect_words(judge.self_preference.effect)
        if words:
            told += f"; {words} credits for its own family"
        yield told + "."
