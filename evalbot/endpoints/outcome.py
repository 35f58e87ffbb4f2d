"""How an answer ended: its status, what a user would read, and why it is not ok."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evalbot.domain.answers import AnswerStatus, Usage
from evalbot.endpoints.chunks import ServerTimings
from evalbot.formats.received import shorten
from evalbot.scoring.thinking import split_thinking

LENGTH_FINISHES = frozenset({"length", "max_tokens", "model_length"})
FAILED_FINISHES = frozenset({"error", "abort"})
"""With these a server says that it gave up half-way (vLLM, SGLang, OpenRouter)."""
OVERFLOW_TYPE = "exceed_context_size_error"
OVERFLOW_WORDS = (
    "context size has been exceeded",
    "exceeds the available context size",
    "maximum context length",
    "maximum model length",
    "model's context length",
    "exceeds the context length",
    "context length exceeded",
    "context_length_exceeded",
    "context window",
    "context overflow",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why no complete answer came, with the server's own words.

    retry_after_s: what the server asked to wait. shared_context: the context was full
    while generating, which another try can cure where slots share it.
    """

    status: AnswerStatus
    detail: str
    http_status: int | None = None
    retry_after_s: float | None = None
    shared_context: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of the received text."""

    status: AnswerStatus
    text: str
    reasoning: str
    detail: str | None


def error_failure(error: Any, http_status: int | None = None) -> Failure:
    """The failure behind an `error` object, a reply's body, or an `error:` line."""
    code = http_status
    if isinstance(error, dict):
        kind = str(error.get("type") or "")
        message = str(error.get("message") or "") or json.dumps(error, ensure_ascii=False)
        code = error["code"] if isinstance(error.get("code"), int) else code
        needed, held = error.get("n_prompt_tokens"), error.get("n_ctx")
        if kind == OVERFLOW_TYPE and needed is not None and held is not None:
            message = f"{message} (prompt {needed} tokens, context {held} tokens)"
    else:
        kind, message = "", str(error)
    lowered = message.lower()
    if kind == OVERFLOW_TYPE or any(words in lowered for words in OVERFLOW_WORDS):
        # With that type the prompt alone is too long, which no other try will change.
        shared = code == 500 and kind != OVERFLOW_TYPE
        return Failure(
            AnswerStatus.CONTEXT_OVERFLOW, shorten(message), http_status, shared_context=shared
        )
    status = AnswerStatus.SERVER_ERROR
    if http_status is not None and http_status != 200:
        status = AnswerStatus.HTTP
        message = f"HTTP {http_status}: {message}" if message else f"HTTP {http_status}"
    return Failure(status, shorten(message), http_status)


def read_complete(
    content: str,
    reasoning: str,
    finish_reason: str | None,
    usage: Usage,
    timings: ServerTimings | None,
    slot_context: int | None,
    max_tokens: int,
) -> Reading:
    """The status of a stream that came to its end (contract.md, Details)."""
    split = split_thinking(content)
    thought = "\n".join(part for part in (reasoning, split.reasoning) if part)
    if finish_reason in FAILED_FINISHES:
        ended = f"the server ended the answer with finish_reason {finish_reason}"
        return Reading(AnswerStatus.SERVER_ERROR, split.text, thought, ended)
    at_limit = finish_reason in LENGTH_FINISHES
    budget_note = f"reasoning used the token budget (max_tokens {max_tokens})"
    if split.unclosed:
        if at_limit:
            return Reading(AnswerStatus.NO_ANSWER_BUDGET, split.text, thought, budget_note)
        return Reading(
            AnswerStatus.THINKING_UNCLOSED,
            split.text,
            thought,
            "the thinking tag was never closed",
        )
    if not split.text.strip():
        if thought.strip() and at_limit:
            return Reading(AnswerStatus.NO_ANSWER_BUDGET, split.text, thought, budget_note)
        note = "only reasoning, no answer" if thought.strip() else None
        return Reading(AnswerStatus.EMPTY, split.text, thought, note)
    total = _context_used(usage, timings)
    if slot_context is not None and total is not None and total > slot_context:
        note = (
            f"{total} tokens went through a context of {slot_context}: "
            "the start of the prompt was dropped (context shift)"
        )
        return Reading(AnswerStatus.TRUNCATED, split.text, thought, note)
    if at_limit:
        note = f"max_tokens {max_tokens} reached"
        if slot_context is not None and total == slot_context:
            note = f"the slot's context of {slot_context} tokens was full"
        return Reading(AnswerStatus.TRUNCATED, split.text, thought, note)
    return Reading(AnswerStatus.OK, split.text, thought, None)


def _context_used(usage: Usage, timings: ServerTimings | None) -> int | None:
    """Tokens in the slot: prompt, cached or not, and what was generated."""
    if timings is not None and timings.prompt_n is not None and timings.predicted_n is not None:
        return (timings.cache_n or 0) + timings.prompt_n + timings.predicted_n
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        return usage.prompt_tokens + usage.completion_tokens
    return None
