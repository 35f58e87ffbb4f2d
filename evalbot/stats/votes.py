"""Several verdicts on one answer: the majority, and how far they are from one mind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def majority(verdicts: Sequence[str]) -> str | None:
    """The verdict of more than half; None where there is none: a tie is a tie."""
    if not verdicts:
        return None
    verdict = max(set(verdicts), key=verdicts.count)
    return verdict if 2 * verdicts.count(verdict) > len(verdicts) else None


def entropy(verdicts: Sequence[str]) -> float | None:
    """Shannon entropy of the verdicts in bits: 0 where all agree; None of no verdicts."""
    if not verdicts:
        return None
    shares = [count / len(verdicts) for count in Counter(verdicts).values()]
    return -math.fsum(share * math.log2(share) for share in shares) + 0.0
