"""Votes of all chats, with how the endpoints that were voted on had been asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evalbot.domain.chats import Vote
from evalbot.store.chat_schema import chat_answer_table, chat_table, vote_table


class Asked(NamedTuple):
    """How an endpoint was asked in a chat, and which model it held (None: unknown)."""

    endpoint: str
    settings: Mapping[str, Any]
    model_fingerprint: str | None


class CastVote(NamedTuple):
    """A vote with its chat; endpoints: all that the chat is with."""

    chat: str
    endpoints: tuple[str, ...]
    vote: Vote


def all_votes(connection: Connection) -> list[CastVote]:
    """All votes, in the order they were cast."""
    rows = connection.execute(
        select(vote_table, chat_table.c.settings)
        .join(chat_table, chat_table.c.id == vote_table.c.chat)
        .order_by(vote_table.c.id)
    )
    return [
        CastVote(
            row.chat,
            tuple(row.settings["endpoints"]),
            Vote(
                turn=row.turn,
                models=tuple(row.models),
                choice=row.choice,
                voter=row.voter,
                is_blind=row.is_blind,
                token=row.token,
                at=row.at,
            ),
        )
        for row in rows
    ]


def asked_in_voted_chats(connection: Connection) -> dict[str, list[Asked]]:
    """By chat, how its endpoints were asked; chats without votes are left out."""
    voted = select(vote_table.c.chat)
    rows = connection.execute(
        select(
            chat_answer_table.c.chat,
            chat_answer_table.c.endpoint,
            chat_answer_table.c.settings,
            chat_answer_table.c.model_fingerprint,
        ).where(chat_answer_table.c.chat.in_(voted))
    )
    found: dict[str, list[Asked]] = defaultdict(list)
    for chat, endpoint, settings, model in rows:
        found[chat].append(Asked(endpoint, settings, model))
    return found
