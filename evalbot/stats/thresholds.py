"""From which ratio on an automatic verdict can be trusted, measured on answers people graded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evalbot.stats.wilson import wilson


@dataclass(frozen=True, slots=True)
class Threshold:
    """Answers at or above the ratio: how many, how many of them wrong.

    low, high: 95 % Wilson bounds of errors/n. The cut was chosen on the same answers, so its
    error elsewhere may be larger.
    """

    ratio: float
    n: int
    errors: int
    low: float
    high: float


def propose_threshold(
    ratios: Sequence[float], is_right: Sequence[bool], wished_error: float
) -> Threshold | None:
    """The lowest ratio among those seen, from which on at most this share is wrong; None: none.

    ratios, is_right: by answer. wished_error: 0 to 1.
    """
    answers = sorted(zip(ratios, is_right, strict=True), reverse=True)
    n = errors = 0
    lowest: tuple[float, int, int] | None = None
    for ratio, equal in groupby(answers, key=lambda answer: answer[0]):
        for _, right in equal:
            n += 1
            errors += not right
        if errors <= wished_error * n:
            lowest = (ratio, n, errors)
    if lowest is None:
        return None
    ratio, n, errors = lowest
    bounds = wilson(errors, n)
    assert bounds is not None
    return Threshold(ratio, n, errors, bounds.low, bounds.high)
