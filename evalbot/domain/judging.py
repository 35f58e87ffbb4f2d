"""What a judge is asked, what it said of an answer, and what was made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalbot.domain.answers import Usage

PER_PRICE = 1_000_000
"""Tokens that a price is for."""

SCHEMA = "response_format"
"""The parameter that holds a model to the form of the reply, as providers call it."""


class TickedCheckpoint(NamedTuple):
    """One line of a rubric as a judge ticked it; met None: it did not say. quote: its evidence."""

    id: str
    met: bool | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """A reply as read: a verdict of the scale, or why there is none and in which words.

    Exactly one of verdict and unscored_reason is given. flags: what a reader should look at;
    none of them changes the verdict.
    """

    verdict: str | None
    unscored_reason: str | None
    reason: str | None = None
    checkpoints: tuple[TickedCheckpoint, ...] = ()
    flags: tuple[str, ...] = ()
    detail: str | None = None


def portable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A form of reply without what not every provider takes, and the same for all cases.

    Providers of their own models refuse bounds on lists, and take their time over each form
    that they have not seen.
    """
    properties = dict(schema["properties"])
    if "checkpoints" in properties:
        items = properties["checkpoints"]["items"]
        loose = {**items, "properties": {**items["properties"], "id": {"type": "string"}}}
        properties["checkpoints"] = {"type": "array", "items": loose}
    return {**schema, "properties": properties}


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What is sent to a provider. schema: the form of the reply; None where it has none."""

    rules: str
    question: str
    sampling: Mapping[str, Any]
    schema: Mapping[str, Any] | None


class Price(NamedTuple):
    """What a judge costs, in USD per million tokens read and written."""

    read: float
    written: float

    def of(self, read: int, written: int) -> float:
        """USD for so many tokens."""
        return (read * self.read + written * self.written) / PER_PRICE


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """What came back. refused: the provider's own refusal or content filter; cost in USD."""

    text: str
    finish_reason: str | None = None
    refused: bool = False
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    latency_s: float | None = None


class ProviderError(Exception):
    """A request that brought no reply.

    parameter: the one that the provider does not take. is_about_request: it would not take
    this request, whatever else it takes; other errors tell of the provider.
    """

    def __init__(
        self, detail: str, parameter: str | None = None, *, is_about_request: bool = False
    ) -> None:
        self.detail = detail
        self.parameter = parameter
        self.is_about_request = is_about_request
        super().__init__(detail)


class OutOfBudgetError(Exception):
    """A call that may not be made: it could cost more than is left."""
