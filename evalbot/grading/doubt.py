"""How unsure a judge's verdict is, by its votes and by the automatic one."""

from __future__ import annotations

from evalbot.domain.rubrics import Rubric

NOTHING_KNOWN = 1.0
"""How unsure an answer is that no judge has graded."""


def doubt(rubric: Rubric, auto: str | None, judge: str | None, entropy: float | None) -> float:
    """Entropy of the judge's votes in bits, and how far it is from the automatic verdict."""
    if judge is None:
        return NOTHING_KNOWN
    return (entropy or 0.0) + (0.0 if auto is None else _distance(rubric, auto, judge))


def _distance(rubric: Rubric, first: str, second: str) -> float:
    credits_ = {step.verdict: step.credit for step in rubric.scale}
    one, other = credits_.get(first), credits_.get(second)
    if one is None or other is None:
        return float(first != second)
    return abs(one - other)
