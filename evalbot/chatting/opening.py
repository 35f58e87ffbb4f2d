"""Blind chats opened to reviewers: never over what an open campaign has them grade."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from evalbot.chatting.chats import ChatRefusedError, new_id, own_transcript
from evalbot.domain.chats import ALL_BAD, TIE, Chat
from evalbot.domain.people import User
from evalbot.errors import InputError
from evalbot.store import chats
from evalbot.store.database import Connection, Database


def open_to_reviewers(database: Database, user: User, chat: str) -> None:
    """Let reviewers ask this chat's endpoints, blind and without ever a reveal.

    InputError where the chat is not blind, or an open campaign grades one of its endpoints:
    who has chatted with a model may know it again.
    """
    with database.write() as connection:
        found = own_transcript(connection, user, chat).chat
        if found.origin is not None:
            raise InputError("this chat was opened by a lead: only they can open it to others")
        if not found.is_blind:
            raise InputError("only a blind chat can be opened to reviewers; start a blind one")
        _refuse_in_review(connection, found)
        chats.set_open(connection, chat, True)


def close_to_reviewers(database: Database, user: User, chat: str) -> None:
    """Let nobody ask through this chat any more; what was said stays on record."""
    with database.write() as connection:
        own_transcript(connection, user, chat)
        chats.set_open(connection, chat, False)


def offered_chats(database: Database) -> list[Chat]:
    """The chats that reviewers may take part in now."""
    with database.read() as connection:
        in_review = chats.endpoints_in_review(connection)
        return [
            chat
            for chat in chats.open_chats(connection)
            if not in_review.keys() & set(chat.settings.endpoints)
        ]


def join_chat(database: Database, user: User, chat: str) -> Chat:
    """A chat of this person's own with the endpoints of one that is open."""
    with database.write() as connection:
        origin = chats.get_chat(connection, chat)
        _refuse_unless_open(connection, origin)
        own = Chat(
            new_id(), user.name, origin.settings, datetime.now(UTC), is_blind=True, origin=chat
        )
        chats.add_chat(connection, own)
        return own


def count_votes(database: Database, user: User, chat: str) -> Counter[str]:
    """How reviewers voted in an opened chat: endpoints, `tie` and `all_bad`."""
    with database.read() as connection:
        found = own_transcript(connection, user, chat).chat
        counts = Counter(dict.fromkeys((*found.settings.endpoints, TIE, ALL_BAD), 0))
        counts.update(vote.choice for vote in chats.votes_through(connection, chat))
        return counts


def refuse_if_not_open(connection: Connection, chat: Chat, prompt: str) -> None:
    """Raises InputError for a chat that a reviewer was let into and that is not open any more.

    Nor may they ask there what the cases of an open campaign ask.
    """
    if chat.origin is None:
        return
    _refuse_unless_open(connection, chats.get_chat(connection, chat.origin))
    wanted = prompt.strip()
    for case in chats.cases_in_review(connection):
        asked = [case.get("prompt"), *(turn["content"] for turn in case.get("messages") or ())]
        if any(text is not None and text.strip() == wanted for text in asked):
            raise ChatRefusedError(
                "this is a question of a review that is going on; ask another one"
            )


def _refuse_unless_open(connection: Connection, origin: Chat) -> None:
    in_review = chats.endpoints_in_review(connection)
    if not origin.is_open or in_review.keys() & set(origin.settings.endpoints):
        raise ChatRefusedError("this chat is closed now")


def _refuse_in_review(connection: Connection, chat: Chat) -> None:
    in_review = chats.endpoints_in_review(connection)
    graded = [name for name in chat.settings.endpoints if name in in_review]
    if graded:
        raise InputError(
            f"reviewers grade {', '.join(graded)} in an open campaign of run "
            f"{in_review[graded[0]]}, and may know it again; close that campaign first, or chat "
            "with other endpoints"
        )
