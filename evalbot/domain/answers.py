"""What an endpoint said, how long it took, and how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class AnswerStatus(StrEnum):
    """How asking went. Only OK answers are scored; the rest are unscored with this as reason."""

    OK = "ok"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    NO_ANSWER_BUDGET = "no_answer_budget"
    THINKING_UNCLOSED = "thinking_unclosed"
    CONTEXT_OVERFLOW = "context_overflow"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    HTTP = "http"
    STREAM_BROKEN = "stream_broken"
    SERVER_ERROR = "server_error"
    MALFORMED = "malformed"
    CANCELLED = "cancelled"
    NOT_RECORDED = "not_recorded"


FAILED_ON_THE_WAY = frozenset(
    {
        AnswerStatus.CONNECTION,
        AnswerStatus.TIMEOUT,
        AnswerStatus.HTTP,
        AnswerStatus.STREAM_BROKEN,
        AnswerStatus.SERVER_ERROR,
        AnswerStatus.MALFORMED,
    }
)
"""What `--retry-failed` asks again."""


class Place(NamedTuple):
    """Where an answer belongs inside a run; the endpoint's name is the model of every table."""

    case: str
    endpoint: str
    repeat: int = 1
    pass_: int = 1


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds since the request was sent, and tokens per second. None is unknown.

    ttfr: first event of any kind; ttft: first token, reasoning or text; ttfot: first
    visible text. source: server, client or none (statistics.md, g).
    """

    ttfr_ms: float | None = None
    ttft_ms: float | None = None
    ttfot_ms: float | None = None
    total_ms: float | None = None
    prefill_tps: float | None = None
    decode_tps: float | None = None
    source: str = "none"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server gave them; None where it gave none."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """One failed try before the answer that is stored: what happened, and the pause after it."""

    status: AnswerStatus
    detail: str
    waited_s: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply, never edited afterwards.

    text: what a user would read, thinking removed and nothing else. reasoning: what came
    as reasoning or inside thinking tags. raw: all text received, as it came.
    """

    status: AnswerStatus
    text: str
    reasoning: str
    raw: str
    started_at: datetime
    finish_reason: str | None = None
    error_detail: str | None = None
    usage: Usage = Usage()
    timing: Timing = Timing()
    retries: tuple[Retry, ...] = field(default=())
