"""One rate with everything that must stand beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalbot.stats.wilson import wilson_of

NOT_GRADED = "not_graded"


class Graded(NamedTuple):
    """What one layer says of one answer: a verdict, or why there is none.

    stale: there is a grade, but it was made under another text.
    """

    verdict: str | None = None
    reason: str | None = NOT_GRADED
    stale: bool = False


@dataclass(frozen=True, slots=True)
class CaseGrades:
    """The repeats of one case, and the document it belongs to, if any."""

    repeats: Sequence[Graded]
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate over n scored cases; n + unscored + stale is the number of cases.

    low, high: 95 % Wilson interval. rate_min, rate_max: the lowest and highest the rate
    could be, whatever verdicts the unscored and stale answers get. counts and reasons
    count answers. repeat_change: how often two repeats of a case have different verdicts,
    over cases with at least two scored. None where there is nothing to take a rate of.
    """

    n: int
    unscored: int
    stale: int
    rate: float | None
    low: float | None
    high: float | None
    rate_min: float | None
    rate_max: float | None
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    repeat_change: float | None = None


def rate_of(cases: Sequence[CaseGrades], weights: Mapping[str, float]) -> Rate:
    """The mean weight of the cases' verdicts; a case counts with the mean of its repeats."""
    counts: Counter[str] = Counter(dict.fromkeys(weights, 0))
    reasons: Counter[str] = Counter()
    values: list[float] = []
    clusters: list[str] = []
    lowest: list[float] = []
    highest: list[float] = []
    changes: list[float] = []
    unscored = stale = 0
    for number, case in enumerate(cases):
        scored = [one.verdict for one in case.repeats if one.verdict is not None and not one.stale]
        counts.update(scored)
        reasons.update(
            one.reason or NOT_GRADED
            for one in case.repeats
            if one.verdict is None and not one.stale
        )
        known = [weights[verdict] for verdict in scored]
        if len(scored) > 1:
            changes.append(_share_of_pairs_that_differ(scored))
        if known:
            values.append(math.fsum(known) / len(known))
            clusters.append(f"c:{case.cluster}" if case.cluster else f"i:{number}")
        elif any(one.stale for one in case.repeats):
            stale += 1
        else:
            unscored += 1
        open_ = len(case.repeats) - len(known)
        lowest.append(_mean(known, open_, min(weights.values())))
        highest.append(_mean(known, open_, max(weights.values())))
    interval = wilson_of(values, clusters)
    return Rate(
        n=len(values),
        unscored=unscored,
        stale=stale,
        rate=math.fsum(values) / len(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        rate_min=math.fsum(lowest) / len(lowest) if cases else None,
        rate_max=math.fsum(highest) / len(highest) if cases else None,
        counts=dict(counts),
        reasons=dict(reasons),
        repeat_change=math.fsum(changes) / len(changes) if changes else None,
    )


def _share_of_pairs_that_differ(verdicts: Sequence[str]) -> float:
    """Unlike the share of cases with any change, it does not grow with the number of repeats."""
    alike = sum(math.comb(count, 2) for count in Counter(verdicts).values())
    return 1 - alike / math.comb(len(verdicts), 2)


def _mean(known: Sequence[float], open_: int, filler: float) -> float:
    return (math.fsum(known) + open_ * filler) / (len(known) + open_)
