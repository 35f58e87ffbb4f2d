"""Requests sent to a judge together: written before they are sent, found again if lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from evalbot.domain.judging import ProviderReply


class BatchState(StrEnum):
    """prepared: perhaps sent, perhaps not; sent: the provider's id is known; fetched: all done."""

    PREPARED = "prepared"
    SENT = "sent"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as recorded. params: what goes with every request; size: how many there are."""

    id: str
    run: str
    judge: str
    state: BatchState
    params: Mapping[str, Any]
    size: int
    created_at: datetime
    provider_id: str | None = None


class BatchRequest(NamedTuple):
    """One request of a batch, under our own id."""

    custom_id: str
    rules: str
    question: str


class ListedBatch(NamedTuple):
    """A batch as the provider tells of it; done: requests that have come to an end."""

    provider_id: str
    created_at: datetime
    is_ended: bool
    size: int
    done: int


class BatchResult(NamedTuple):
    """What became of one request: exactly one of reply and error is given."""

    custom_id: str
    reply: ProviderReply | None
    error: str | None


class BatchGoneError(Exception):
    """The provider does not know a batch any more, or has its results no longer."""
