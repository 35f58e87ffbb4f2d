"""Chats in the record: turns, answers and votes are only added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update

from evalbot.domain.chats import Chat, ChatAnswer, ChatSettings, ChatTurn, Transcript, Vote
from evalbot.errors import NotFoundError
from evalbot.store.answer_values import answer_from, answer_values
from evalbot.store.chat_schema import (
    chat_answer_table,
    chat_table,
    chat_turn_table,
    vote_table,
)
from evalbot.store.review_schema import campaign_table
from evalbot.store.schema import run_case_table, run_endpoint_table
from evalbot.store.texts import get_texts, insert_if_new


class ChatLine(NamedTuple):
    """A chat in a list: its first prompt, None where nothing was asked yet."""

    chat: Chat
    prompt: str | None
    turns: int


def add_chat(connection: Connection, chat: Chat) -> None:
    """Write a new chat."""
    values = {**asdict(chat), "settings": asdict(chat.settings)}
    connection.execute(insert(chat_table).values(**values))


def set_open(connection: Connection, chat: str, is_open: bool) -> None:
    """Write whether reviewers may take part."""
    connection.execute(update(chat_table).where(chat_table.c.id == chat).values(is_open=is_open))


def add_turn(
    connection: Connection, chat: str, prompt: str, order: Sequence[str], at: datetime
) -> int:
    """Write the next turn of a chat; its number."""
    query = select(func.max(chat_turn_table.c.number)).where(chat_turn_table.c.chat == chat)
    number = (connection.execute(query).scalar() or 0) + 1
    connection.execute(
        insert(chat_turn_table).values(
            chat=chat, number=number, prompt=prompt, order=list(order), at=at
        )
    )
    return number


def add_answer(connection: Connection, chat: str, turn: int, said: ChatAnswer) -> None:
    """Write what an endpoint said."""
    connection.execute(
        insert(chat_answer_table).values(
            chat=chat,
            turn=turn,
            endpoint=said.endpoint,
            settings=dict(said.settings),
            model_id=said.model_id,
            model_fingerprint=said.model_fingerprint,
            **answer_values(said.answer),
        )
    )


def add_vote(connection: Connection, chat: str, vote: Vote) -> Vote:
    """Write a vote, unless one with its token is there already; the one that counts."""
    values = {
        **asdict(vote),
        "models": list(vote.models),
        "grades": dict(vote.grades) or None,
        "chat": chat,
    }
    connection.execute(insert_if_new(connection, vote_table, "token"), [values])
    query = select(vote_table).where(vote_table.c.token == vote.token)
    return _vote(connection.execute(query).one())


def get_chat(connection: Connection, chat: str) -> Chat:
    """The chat of this id; NotFoundError where there is none."""
    row = connection.execute(select(chat_table).where(chat_table.c.id == chat)).one_or_none()
    if row is None:
        raise NotFoundError("there is no such chat (any more); load the page again")
    return _chat(row)


def read_transcript(connection: Connection, chat: str) -> Transcript:
    """A chat with all that was said in it; NotFoundError where there is none."""
    found = get_chat(connection, chat)
    answers: dict[int, dict[str, ChatAnswer]] = defaultdict(dict)
    for row in connection.execute(
        select(chat_answer_table).where(chat_answer_table.c.chat == chat)
    ):
        answers[row.turn][row.endpoint] = ChatAnswer(
            row.endpoint, answer_from(row), row.settings, row.model_id, row.model_fingerprint
        )
    votes: dict[int, list[Vote]] = defaultdict(list)
    for row in connection.execute(
        select(vote_table).where(vote_table.c.chat == chat).order_by(vote_table.c.id)
    ):
        votes[row.turn].append(_vote(row))
    rows = connection.execute(
        select(chat_turn_table)
        .where(chat_turn_table.c.chat == chat)
        .order_by(chat_turn_table.c.number)
    )
    turns = tuple(
        ChatTurn(
            row.number,
            row.prompt,
            tuple(row.order),
            row.at,
            answers[row.number],
            tuple(votes[row.number]),
        )
        for row in rows
    )
    return Transcript(found, turns)


def list_chats(connection: Connection, owner: str, limit: int) -> list[ChatLine]:
    """This person's newest chats."""
    rows = connection.execute(
        select(chat_table)
        .where(chat_table.c.owner == owner)
        .order_by(chat_table.c.created_at.desc(), chat_table.c.id)
        .limit(limit)
    )
    chats = [_chat(row) for row in rows]
    turns: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(
        select(chat_turn_table.c.chat, chat_turn_table.c.prompt)
        .where(chat_turn_table.c.chat.in_([chat.id for chat in chats]))
        .order_by(chat_turn_table.c.number)
    ):
        turns[row.chat].append(row.prompt)
    return [ChatLine(chat, next(iter(turns[chat.id]), None), len(turns[chat.id])) for chat in chats]


def open_chats(connection: Connection) -> list[Chat]:
    """The chats that leads have opened to reviewers, newest first."""
    rows = connection.execute(
        select(chat_table)
        .where(chat_table.c.is_open)
        .order_by(chat_table.c.created_at.desc(), chat_table.c.id)
    )
    return [_chat(row) for row in rows]


def votes_through(connection: Connection, origin: str) -> list[Vote]:
    """The votes of reviewers in their chats of this origin."""
    rows = connection.execute(
        select(vote_table)
        .join(chat_table, chat_table.c.id == vote_table.c.chat)
        .where(chat_table.c.origin == origin)
        .order_by(vote_table.c.id)
    )
    return [_vote(row) for row in rows]


def endpoints_in_review(connection: Connection) -> dict[str, str]:
    """Endpoints whose answers people grade in an open campaign, each with its run."""
    rows = connection.execute(
        select(run_endpoint_table.c.name, campaign_table.c.run)
        .join(campaign_table, campaign_table.c.run == run_endpoint_table.c.run)
        .where(campaign_table.c.closed_at.is_(None))
        .order_by(campaign_table.c.created_at)
    )
    return {row.name: row.run for row in rows}


def cases_in_review(connection: Connection) -> list[dict[str, Any]]:
    """The cases of the runs of open campaigns, as their JSON."""
    rows = connection.execute(
        select(run_case_table.c.text)
        .join(campaign_table, campaign_table.c.run == run_case_table.c.run)
        .where(campaign_table.c.closed_at.is_(None))
        .distinct()
    )
    return list(get_texts(connection, list(rows.scalars())).values())


def _chat(row: Row[Any]) -> Chat:
    settings = {**row.settings, "endpoints": tuple(row.settings["endpoints"])}
    return Chat(
        id=row.id,
        owner=row.owner,
        settings=ChatSettings(**settings),
        created_at=row.created_at,
        is_blind=row.is_blind,
        is_open=row.is_open,
        origin=row.origin,
    )


def _vote(row: Row[Any]) -> Vote:
    return Vote(
        turn=row.turn,
        models=tuple(row.models),
        choice=row.choice,
        voter=row.voter,
        is_blind=row.is_blind,
        token=row.token,
        at=row.at,
        grades=row.grades or {},
    )
