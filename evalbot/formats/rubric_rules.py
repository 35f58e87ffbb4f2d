"""The rules that hold between the fields of a rubric."""

from __future__ import annotations

from collections.abc import Sequence

from evalbot.domain.rubrics import AutoRule, ScaleStep
from evalbot.formats.fields import SHARE, Fields, check_unique
from evalbot.formats.problems import shown

RESERVED = frozenset({"needs_review", "tie", "cannot_judge", "not_graded"})
"""Words that stand where there is no verdict."""

VERDICT_ENDS = frozenset(".,;(|")
"""A judge's `VERDICT:` line ends at these, and `|` separates words in tables."""


def check_scale(fields: Fields, steps: Sequence[Fields], scale: Sequence[ScaleStep]) -> None:
    """At least two steps, best first, their verdicts and keys unique, credits on all or none."""
    if len(scale) < 2:
        fields.fault("scale", f"{len(scale)} verdicts", "two or more, best first")
    for inner, step in zip(steps, scale, strict=True):
        if step.verdict.casefold() in RESERVED:
            expected = "another word: this one says why there is no verdict"
            inner.fault("verdict", shown(step.verdict), expected)
        if VERDICT_ENDS & set(step.verdict):
            inner.fault("verdict", shown(step.verdict), "a word without . , ; ( and |")
        if len(step.key) > 1 or step.key.isspace():
            inner.fault("key", shown(step.key), "one character")
    check_unique(steps, "verdict", [step.verdict.casefold() for step in scale])
    check_unique(steps, "key", [step.key.casefold() for step in scale])
    credits_ = [step.credit for step in scale if step.credit is not None]
    if credits_ and len(credits_) < len(scale):
        fields.fault("scale", "a credit on some verdicts", "a credit on each, or null on all")
    if credits_ != sorted(credits_, reverse=True):
        fields.fault("scale", "a credit above the one before it", "the best verdict first")


def check_rate(fields: Fields, scale: Sequence[ScaleStep]) -> dict[str, float]:
    """A weight for each verdict of the scale, and for nothing else."""
    fields.require("weights", "a weight for each verdict")
    inner = fields.mapping("weights")
    if inner is None:
        return {}
    verdicts = [step.verdict for step in scale if step.verdict]
    for verdict in verdicts:
        inner.require(verdict, SHARE.words)
    weights = {verdict: inner.number(verdict, SHARE, 0.0) for verdict in verdicts}
    inner.finish()
    return weights


def check_auto(fields: Fields, bands: Sequence[Fields], auto: AutoRule) -> None:
    """Bands in order, thresholds in order, and a ratio to decide by where ratios decide."""
    for inner, band in zip(bands, auto.bands, strict=True):
        if band.correct is not None and (band.acceptable or 0) > band.correct:
            inner.fault("acceptable", f"{band.acceptable:g}", f"at most correct, {band.correct:g}")
        for name, threshold in (("correct", band.correct), ("acceptable", band.acceptable)):
            if threshold is not None and threshold < (auto.wrong_below or 0):
                expected = f"at least wrong_below, {auto.wrong_below:g}"
                inner.fault(name, f"{threshold:g}", expected)
    lengths = [band.max_length for band in auto.bands]
    if None in lengths[:-1]:
        fields.fault("bands", "a band for any length before others", "it as the last")
    known = [length for length in lengths if length is not None]
    if known != sorted(set(known)):
        fields.fault("bands", f"max_length {', '.join(map(str, known))}", "growing lengths")
    if auto.undecided == "by_ratio" and auto.acceptable_from is None:
        fields.fault("acceptable_from", "nothing", "a number from 0 to 100 with by_ratio")
    if auto.undecided != "by_ratio" and auto.acceptable_from is not None:
        expected = "undecided: by_ratio with it, or nothing"
        fields.fault("acceptable_from", f"{auto.acceptable_from:g}", expected)
