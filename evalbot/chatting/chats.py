"""Chats begun, read, voted on; each belongs to one person."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evalbot.domain.chats import (
    ALL_BAD,
    GRADED,
    GRADES,
    TIE,
    Chat,
    ChatSettings,
    ChatTurn,
    Transcript,
    Vote,
)
from evalbot.domain.people import User
from evalbot.domain.settings import Config
from evalbot.errors import InputError
from evalbot.fingerprint import fingerprint
from evalbot.formats.received import clean_text
from evalbot.formats.sampling import KNOWN
from evalbot.running.prepare import choose_endpoints
from evalbot.store import chats
from evalbot.store.chats import ChatLine
from evalbot.store.database import Connection, Database

MOST_LISTED = 100


class ChatRefusedError(InputError):
    """A chat cannot be asked this, or not now; the words tell nothing about its endpoints."""


def start_chat(
    database: Database, user: User, config: Config, settings: ChatSettings, *, is_blind: bool
) -> Chat:
    """A new chat with these endpoints; InputError where it could never be asked anything."""
    if not settings.endpoints:
        raise InputError("choose at least one endpoint to ask")
    if is_blind and len(settings.endpoints) < 2:
        raise InputError("a blind chat needs two endpoints or more; choose another one as well")
    choose_endpoints(config, settings.endpoints)
    _check_sampling(settings.sampling)
    system = clean_text(settings.system or "").strip() or None
    settings = replace(settings, system=system)
    chat = Chat(new_id(), user.name, settings, datetime.now(UTC), is_blind)
    with database.write() as connection:
        chats.add_chat(connection, chat)
    return chat


def read_chat(database: Database, user: User, chat: str) -> Transcript:
    """A chat of this person's own."""
    with database.read() as connection:
        return own_transcript(connection, user, chat)


def list_chats(database: Database, user: User) -> list[ChatLine]:
    """This person's chats, newest first."""
    with database.read() as connection:
        return chats.list_chats(connection, user.name, MOST_LISTED)


def vote(database: Database, user: User, chat: str, number: int, choice: str) -> Vote:
    """Note which answer of a turn this person finds best; a person's first vote on it counts.

    choice: an endpoint's name, `tie` or `all_bad`.
    """
    with database.write() as connection:
        transcript, turn = _to_vote_on(connection, user, chat, number)
        if choice not in (*turn.contenders, TIE, ALL_BAD):
            raise InputError("this vote names no answer of the turn; load the page again")
        return chats.add_vote(connection, chat, _vote(user, transcript, turn, choice, {}))


def grade_answers(
    database: Database, user: User, chat: str, number: int, grades: Mapping[str, str]
) -> Vote:
    """Note how good each answer of a turn is, instead of voting; a person's first word counts.

    grades: by endpoint, good, fair or bad, for every answer that could be voted for.
    """
    with database.write() as connection:
        transcript, turn = _to_vote_on(connection, user, chat, number)
        if set(grades) != set(turn.contenders) or not set(grades.values()) <= set(GRADES):
            raise InputError("grade every answer of the turn: good, fair or bad")
        return chats.add_vote(connection, chat, _vote(user, transcript, turn, GRADED, grades))


def _to_vote_on(
    connection: Connection, user: User, chat: str, number: int
) -> tuple[Transcript, ChatTurn]:
    transcript = own_transcript(connection, user, chat)
    turn = next((one for one in transcript.turns if one.number == number), None)
    if turn is None or not turn.contenders:
        raise InputError("there is nothing to vote on in this turn")
    return transcript, turn


def _vote(
    user: User, transcript: Transcript, turn: ChatTurn, choice: str, grades: Mapping[str, str]
) -> Vote:
    return Vote(
        turn=turn.number,
        models=turn.contenders,
        choice=choice,
        voter=user.name,
        is_blind=not transcript.shows_names(turn),
        token=fingerprint([transcript.chat.id, turn.number, user.name]),
        at=datetime.now(UTC),
        grades=grades,
    )


def own_transcript(connection: Connection, user: User, chat: str) -> Transcript:
    """A chat, which must be this person's; it is told as if it were not there otherwise."""
    transcript = chats.read_transcript(connection, chat)
    if transcript.chat.owner != user.name:
        raise InputError("this chat is somebody else's")
    return transcript


def new_id() -> str:
    """A chat's name, which nobody can guess."""
    return secrets.token_hex(8)


def _check_sampling(sampling: Mapping[str, Any]) -> None:
    for name, value in sampling.items():
        if name not in KNOWN or isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"sampling: {name} must be a number that evalbot knows")
    tokens = sampling.get("max_tokens")
    if tokens is not None and (type(tokens) is not int or tokens < 1):
        raise InputError("max_tokens must be a whole number of 1 or more")
