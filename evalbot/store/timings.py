"""How long the answers of a run took, without their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, select

from evalbot.store.answers import STREAMED, last_attempts
from evalbot.store.schema import answer_table


class TimedAnswer(NamedTuple):
    """The figures of one counting answer; times in ms, rates in tokens per second."""

    endpoint: str
    pass_: int
    status: str
    prompt_tokens: int | None
    completion_tokens: int | None
    ttfr_ms: float | None
    ttft_ms: float | None
    ttfot_ms: float | None
    prefill_tps: float | None
    decode_tps: float | None
    timing_source: str


def timed_answers(connection: Connection, run: str) -> Iterator[TimedAnswer]:
    """The counting answers of a run."""
    c = answer_table.c
    query = select(
        c.endpoint,
        c.pass_number,
        c.status,
        c.prompt_tokens,
        c.completion_tokens,
        c.ttfr_ms,
        c.ttft_ms,
        c.ttfot_ms,
        c.prefill_tps,
        c.decode_tps,
        c.timing_source,
    )
    result = connection.execute(last_attempts(query, run), execution_options=STREAMED)
    return (TimedAnswer._make(row) for page in result.partitions() for row in page)
