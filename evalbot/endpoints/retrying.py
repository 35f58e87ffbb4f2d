"""When another try can help, and how long to wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evalbot.domain.answers import AnswerStatus, Retry
from evalbot.endpoints.outcome import Failure

BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Connection errors and busy servers at most `retries` times, a shared context once.

    retries_shared_context: off where even that one would be too many.

    Pauses double from first_pause_s; a server's Retry-After is honoured up to
    longest_pause_s, beyond which the answer fails at once.
    """

    retries: int = 2
    first_pause_s: float = 0.5
    longest_pause_s: float = 120.0
    retries_shared_context: bool = True

    def pause(self, failure: Failure, before: Sequence[Retry]) -> float | None:
        """Seconds to wait before the next try; None where none can help."""
        if failure.status is AnswerStatus.CONTEXT_OVERFLOW:
            tried = any(retry.status is AnswerStatus.CONTEXT_OVERFLOW for retry in before)
            can_help = failure.shared_context and self.retries_shared_context and not tried
            return self.first_pause_s if can_help else None
        busy = failure.status is AnswerStatus.HTTP and failure.http_status in BUSY
        if not busy and failure.status is not AnswerStatus.CONNECTION:
            return None
        if len(before) >= self.retries:
            return None
        if failure.retry_after_s is not None:
            asked = failure.retry_after_s
            return asked if asked <= self.longest_pause_s else None
        return float(min(self.first_pause_s * 2 ** len(before), self.longest_pause_s))

    @staticmethod
    def asked_pause(headers: Mapping[str, str]) -> float | None:
        """The seconds of a Retry-After header, given as a number or as a date."""
        value = headers.get("Retry-After", "").strip()
        if not value:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            pass
        try:
            at = parsedate_to_datetime(value)
            if at.tzinfo is None:
                at = at.replace(tzinfo=UTC)
            return max(0.0, (at - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError):
            return None
