"""One judgement: asked, asked once more where that can help, and read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from evalbot.domain.answers import Usage
from evalbot.domain.judging import (
    SCHEMA,
    JudgeReading,
    JudgeRequest,
    OutOfBudgetError,
    ProviderError,
    ProviderReply,
)
from evalbot.formats.judge_reply import read_judge_reply
from evalbot.formats.received import clean_text
from evalbot.judging.injection import INJECTION, speaks_to_its_grader
from evalbot.judging.prompt import JudgePrompt, reply_schema

Number = TypeVar("Number", int, float)

CUT_OFF = frozenset({"length", "max_tokens"})
LARGER = 2
"""Times as many tokens for a reply that was cut off; asked so once."""

DEFAULT_MAX_TOKENS = 1500
TRUNCATED, REFUSED, ERROR = "judge_truncated", "judge_refused", "judge_error"


class Provider(Protocol):
    """The edge to a judge model; raises ProviderError after its own retries."""

    async def complete(self, request: JudgeRequest) -> ProviderReply:
        """One reply."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """One vote: how the reply was read, the reply itself, and what was really sent.

    dropped: parameters that the provider refused and that were left out. cost_usd and usage
    are of all replies it took, None where any of them is unknown. provider_failed: no reply
    came for a reason that has nothing to do with this answer.
    """

    reading: JudgeReading
    raw: str
    params: Mapping[str, Any]
    dropped: tuple[str, ...]
    replies: int
    usage: Usage
    cost_usd: float | None
    latency_s: float | None
    provider_failed: bool = False


async def judge_answer(
    provider: Provider,
    prompt: JudgePrompt,
    answer: str,
    sampling: Mapping[str, Any],
    refused: set[str] | None = None,
) -> Judgement:
    """A verdict on one answer, or why there is none; a bad reply never raises.

    A refused parameter is dropped and asked without, each once. A reply that was cut off is
    asked for once more with twice the tokens, if there is money for that. Nothing else is
    asked again: at temperature 0 it would come out the same. OutOfBudgetError where not even
    one call could be made. refused: parameters that are known to be refused, and left out
    from the start; those found now join them.
    """
    known = set() if refused is None else refused
    dropped = sorted(known)
    params = {"max_tokens": DEFAULT_MAX_TOKENS, **sampling}
    params = {key: value for key, value in params.items() if key not in known}
    schema: Mapping[str, Any] | None = None if SCHEMA in known else reply_schema(prompt)
    replies: list[ProviderReply] = []
    is_larger = False
    while True:
        try:
            reply = await provider.complete(
                JudgeRequest(prompt.rules, prompt.question, params, schema)
            )
        except OutOfBudgetError:
            if not replies:
                raise
            reading = read_reply(replies[-1], prompt, answer)
            return _judgement(reading, replies[-1].text, params, schema, dropped, replies)
        except ProviderError as error:
            name = error.parameter
            if name == SCHEMA and schema is not None:
                schema = None
            elif name in params and name != "max_tokens":
                params = {key: value for key, value in params.items() if key != name}
            else:
                reading = JudgeReading(None, ERROR, detail=clean_text(error.detail))
                failed = _judgement(reading, "", params, schema, dropped, replies)
                return replace(failed, provider_failed=not error.is_about_request)
            known.add(str(name))
            dropped.append(str(name))
            continue
        replies.append(reply)
        if reply.finish_reason in CUT_OFF and not is_larger:
            is_larger = True
            params = {**params, "max_tokens": LARGER * int(params["max_tokens"])}
            continue
        reading = read_reply(reply, prompt, answer)
        return _judgement(reading, reply.text, params, schema, dropped, replies)


def read_reply(reply: ProviderReply, prompt: JudgePrompt, answer: str) -> JudgeReading:
    """What a reply says; refused and cut ones say nothing."""
    if reply.refused:
        return JudgeReading(None, REFUSED, detail="the provider refused to answer")
    if reply.finish_reason in CUT_OFF:
        return JudgeReading(None, TRUNCATED, detail="cut off at its token limit")
    reading = read_judge_reply(reply.text, prompt.verdicts, prompt.checkpoints, answer)
    if speaks_to_its_grader(answer):
        return replace(reading, flags=(*reading.flags, INJECTION))
    return reading


def _judgement(
    reading: JudgeReading,
    raw: str,
    params: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    dropped: list[str],
    replies: list[ProviderReply],
) -> Judgement:
    sent = {**params, **({} if schema is None else {SCHEMA: "json_schema"})}
    return Judgement(
        reading=reading,
        raw=clean_text(raw),
        params=sent,
        dropped=tuple(dropped),
        replies=len(replies),
        usage=Usage(
            _sum(one.usage.prompt_tokens for one in replies),
            _sum(one.usage.cached_tokens for one in replies),
            _sum(one.usage.completion_tokens for one in replies),
        ),
        cost_usd=_sum(one.cost_usd for one in replies),
        latency_s=_sum(one.latency_s for one in replies),
    )


def _sum(values: Iterable[Number | None]) -> Number | None:
    """The sum; None where one of them is unknown, or there is none."""
    known: list[Number] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known[1:], known[0]) if known else None
