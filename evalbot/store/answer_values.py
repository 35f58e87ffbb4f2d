"""An answer as the values of the columns that hold it, in runs and in chats alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from evalbot.domain.answers import Answer, AnswerStatus, Retry, Timing, Usage


def answer_values(answer: Answer) -> dict[str, Any]:
    """The columns of an answer; raw is null where it equals text."""
    timing = answer.timing
    return {
        "status": str(answer.status),
        "text": answer.text,
        "reasoning": answer.reasoning,
        "raw": None if answer.raw == answer.text else answer.raw,
        "finish_reason": answer.finish_reason,
        "error_detail": answer.error_detail,
        "retries": [asdict(retry) for retry in answer.retries] or None,
        "prompt_tokens": answer.usage.prompt_tokens,
        "cached_tokens": answer.usage.cached_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "ttfr_ms": timing.ttfr_ms,
        "ttft_ms": timing.ttft_ms,
        "ttfot_ms": timing.ttfot_ms,
        "total_ms": timing.total_ms,
        "prefill_tps": timing.prefill_tps,
        "decode_tps": timing.decode_tps,
        "timing_source": timing.source,
        "started_at": answer.started_at,
    }


def answer_from(row: Row[Any]) -> Answer:
    """The answer of a row that has these columns."""
    return Answer(
        status=AnswerStatus(row.status),
        text=row.text,
        reasoning=row.reasoning,
        raw=row.text if row.raw is None else row.raw,
        started_at=row.started_at,
        finish_reason=row.finish_reason,
        error_detail=row.error_detail,
        usage=Usage(row.prompt_tokens, row.cached_tokens, row.completion_tokens),
        timing=Timing(
            row.ttfr_ms,
            row.ttft_ms,
            row.ttfot_ms,
            row.total_ms,
            row.prefill_tps,
            row.decode_tps,
            row.timing_source,
        ),
        retries=tuple(
            Retry(AnswerStatus(retry["status"]), retry["detail"], retry["waited_s"])
            for retry in row.retries or ()
        ),
    )
