"""The tables of chats: what was asked, what each endpoint said, and which was best."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
)

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class ChatColumns(TypedColumns):
    """A chat with several endpoints side by side; settings: system text, sampling, endpoints.

    is_open: reviewers may take part, each in a chat of their own, whose origin this is.
    """

    id: Named[str] = Column(String(16), primary_key=True)
    owner: Named[str] = Column(Text)
    is_blind: Named[bool]
    is_open: Named[bool]
    origin: Named[str | None] = Column(String(16), ForeignKey("chats.id"))
    settings: Named[Any] = Column(JSON)
    created_at: Named[datetime] = Column(UtcTime)


chat_table = Table(
    "chats",
    metadata,
    ChatColumns,
)


class ChatTurnColumns(TypedColumns):
    """One prompt of a chat. order: the endpoints as they were labelled in this turn."""

    chat: Named[str] = Column(String(16), ForeignKey("chats.id"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    prompt: Named[str] = Column(Text)
    order: Named[Any] = Column(JSON)
    at: Named[datetime] = Column(UtcTime)


chat_turn_table = Table(
    "chat_turns",
    metadata,
    ChatTurnColumns,
)


class ChatAnswerColumns(TypedColumns):
    """What one endpoint said in one turn, as which model and asked how; raw: null where as text."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    chat: Named[str] = Column(String(16), ForeignKey("chats.id"))
    turn: Named[int]
    endpoint: Named[str] = Column(Text)
    settings: Named[Any] = Column(JSON)
    model_id: Named[str | None] = Column(Text)
    model_fingerprint: Named[str | None] = Column(String(32))
    status: Named[str] = Column(String(24))
    text: Named[str] = Column(Text)
    reasoning: Named[str] = Column(Text)
    raw: Named[str | None] = Column(Text)
    finish_reason: Named[str | None] = Column(Text)
    error_detail: Named[str | None] = Column(Text)
    retries: Named[Any | None] = Column(JSON(none_as_null=True))
    prompt_tokens: Named[int | None]
    cached_tokens: Named[int | None]
    completion_tokens: Named[int | None]
    ttfr_ms: Named[float | None]
    ttft_ms: Named[float | None]
    ttfot_ms: Named[float | None]
    total_ms: Named[float | None]
    prefill_tps: Named[float | None]
    decode_tps: Named[float | None]
    timing_source: Named[str] = Column(String(8))
    started_at: Named[datetime] = Column(UtcTime)


chat_answer_table = Table(
    "chat_answers",
    metadata,
    ChatAnswerColumns,
    UniqueConstraint("chat", "turn", "endpoint"),
)


class VoteColumns(TypedColumns):
    """Which answer of a turn was best: an endpoint's name, `tie` or `all_bad`; only added.

    models: those that were voted on. is_blind: the names were not to be seen.
    """

    id: Named[int] = Column(ROW_ID, primary_key=True)
    chat: Named[str] = Column(String(16), ForeignKey("chats.id"))
    turn: Named[int]
    models: Named[Any] = Column(JSON)
    choice: Named[str] = Column(Text)
    grades: Named[Any | None] = Column(JSON(none_as_null=True))
    voter: Named[str] = Column(Text)
    is_blind: Named[bool]
    token: Named[str] = Column(String(64), unique=True)
    at: Named[datetime] = Column(UtcTime)


vote_table = Table(
    "votes",
    metadata,
    VoteColumns,
)
