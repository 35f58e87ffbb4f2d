"""How far a run or sweep has come, for whoever wants to show it."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field

from evalbot.domain.answers import FAILED_ON_THE_WAY, AnswerStatus

RATE_WINDOW = 64
"""Answers over which the present rate is taken."""


@dataclass(slots=True)
class EndpointProgress:
    """Counts of one endpoint, or judge; state is a word or sentence for the user.

    statuses: `ok`, or what went otherwise. note: what else may be of interest meanwhile.
    """

    name: str
    total: int
    done: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    state: str = "waiting"
    warnings: list[str] = field(default_factory=list)
    note: str = ""
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=RATE_WINDOW))

    def answered(self, status: str) -> None:
        """One more is done."""
        self.done += 1
        self.statuses[status] += 1
        self._times.append(time.monotonic())

    @property
    def failures(self) -> int:
        """Answers that are not ok."""
        return sum(count for status, count in self.statuses.items() if status != AnswerStatus.OK)

    @property
    def failed_on_the_way(self) -> int:
        """Answers that another try might bring."""
        return sum(self.statuses[status] for status in FAILED_ON_THE_WAY)

    @property
    def per_second(self) -> float | None:
        """Answers per second of late; None before two have come."""
        if len(self._times) < 2:
            return None
        # Up to now, not to the last answer: an endpoint that has stalled is seen to slow down.
        seconds = time.monotonic() - self._times[0]
        return (len(self._times) - 1) / seconds if seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Time left at the present rate; None where it cannot be told."""
        rate = self.per_second
        return None if rate is None else (self.total - self.done) / rate


@dataclass(slots=True)
class Progress:
    """All endpoints of what is being worked on, in order; unit: what is counted; of: by whom.

    even: each takes about as long as the others, so that a rate tells the time left.
    """

    title: str
    unit: str
    even: bool = True
    of: str = "endpoint"
    endpoints: dict[str, EndpointProgress] = field(default_factory=dict)
    messages: deque[str] = field(default_factory=deque)

    def say(self, message: str) -> None:
        """A line for the user, shown once."""
        self.messages.append(message)
