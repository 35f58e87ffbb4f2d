"""How few changed verdicts would swap two models' places.

The changes are of different answers and add up, so the fewest are the largest ones (a fragility
index; Huang, Shen, Wei and Broderick 2025, arXiv 2508.11847).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

NOISE = 1e-9
"""A lead this small is a tie."""

Repeats = Sequence[float]
"""The weights of a case's scored repeats, at least one; the case counts with their mean."""


def lead_after_one_change(
    a: Sequence[Repeats], b: Sequence[Repeats], scale: Sequence[float], *, lower_is_better: bool
) -> float:
    """What the better one still leads by after the worst change of one verdict, in credits.

    a, b: by case, the same cases for both; scale: the weights a verdict may have. Below 0 the
    change swaps them, at 0 it makes a tie.
    """
    lead, changes = _lead_and_changes(a, b, scale, lower_is_better)
    return lead - max(changes, default=0.0)


def swap_after(
    a: Sequence[Repeats], b: Sequence[Repeats], scale: Sequence[float], *, lower_is_better: bool
) -> int | None:
    """The fewest changed verdicts after which the trailing model leads; None: not even all.

    Takes the arguments of lead_after_one_change. From a tie, one change that moves it is enough.
    """
    lead, changes = _lead_and_changes(a, b, scale, lower_is_better)
    for count, change in enumerate(sorted(changes, reverse=True), 1):
        lead -= change
        if lead < -NOISE:
            return count
    return None


def _lead_and_changes(
    a: Sequence[Repeats], b: Sequence[Repeats], scale: Sequence[float], lower_is_better: bool
) -> tuple[float, list[float]]:
    """What the better one leads by, and how far each verdict alone could move that against it."""
    sign = -1 if lower_is_better else 1
    lead = math.fsum(
        sign * (math.fsum(one) / len(one) - math.fsum(other) / len(other))
        for one, other in zip(a, b, strict=True)
    )
    values = [sign * weight for weight in scale]
    worst, best = min(values), max(values)
    against_a = [*_down(a, sign, worst), *_up(b, sign, best)]
    against_b = [*_down(b, sign, worst), *_up(a, sign, best)]
    if abs(lead) <= NOISE:
        return 0.0, max(against_a, against_b, key=lambda changes: max(changes, default=0.0))
    return abs(lead), against_a if lead > 0 else against_b


def _down(cases: Sequence[Repeats], sign: int, worst: float) -> Iterator[float]:
    return ((sign * weight - worst) / len(case) for case in cases for weight in case)


def _up(cases: Sequence[Repeats], sign: int, best: float) -> Iterator[float]:
    return ((best - sign * weight) / len(case) for case in cases for weight in case)
