"""What judging took and brought, judge by judge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

from evalbot.judging.asking import Judgement

Number = TypeVar("Number", int, float)


@dataclass(slots=True)
class Totals:
    """Sums over the calls of one judge. None: not known of at least one of them.

    verdicts: replies that brought one; reasons: why others brought none. problems: the
    words of the first of each. before: verdicts on record when the work began.
    """

    judge: str
    asked: int = 0
    verdicts: int = 0
    before: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int | None = 0
    cached_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    dropped: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, judgement: Judgement) -> None:
        """One more reply."""
        reading, usage = judgement.reading, judgement.usage
        self.asked += 1
        self.flags.update(reading.flags)
        self.dropped.update(judgement.dropped)
        if reading.verdict is not None:
            self.verdicts += 1
        else:
            reason = str(reading.unscored_reason)
            self.reasons[reason] += 1
            self.problems.setdefault(reason, reading.detail or judgement.raw[:200])
        if judgement.replies:
            self.prompt_tokens = _plus(self.prompt_tokens, usage.prompt_tokens)
            self.cached_tokens = _plus(self.cached_tokens, usage.cached_tokens)
            self.completion_tokens = _plus(self.completion_tokens, usage.completion_tokens)
            self.cost_usd = _plus(self.cost_usd, judgement.cost_usd)


def _plus(total: Number | None, value: Number | None) -> Number | None:
    return None if total is None or value is None else total + value
