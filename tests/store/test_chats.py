"""Chats in the record: read back as they were said, votes by their token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evalbot.domain.answers import Answer, AnswerStatus, Retry, Timing, Usage
from evalbot.domain.chats import Chat, ChatAnswer, ChatSettings, Vote
from evalbot.errors import NotFoundError, StoreError
from evalbot.store import chats
from evalbot.store.database import Database, open_database

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CHAT = Chat("c1", "lee", ChatSettings(("a", "b"), "短く", {"temperature": 0.5}), NOW, True)
SAID = ChatAnswer(
    "a",
    Answer(
        AnswerStatus.TRUNCATED, "答え", "思考", "<think>思考</think>答え", NOW, "length", "cut",
        Usage(9, 4, 20), Timing(1.0, 2.0, 3.0, 4.0, 5.5, 6.5, "server"),
        (Retry(AnswerStatus.HTTP, "HTTP 503", 0.5),),
    ),
    {"sampling": {"max_tokens": 20}}, "qwen", "f" * 32,
)  # fmt: skip
VOTE = Vote(1, ("a", "b"), "a", "lee", True, "token", NOW)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as opened:
        with opened.write() as connection:
            chats.add_chat(connection, CHAT)
        yield opened


def test_what_was_said_is_read_back_as_it_was(database: Database) -> None:
    with database.write() as connection:
        assert chats.add_turn(connection, "c1", "何？", ["b", "a"], NOW) == 1
        chats.add_answer(connection, "c1", 1, SAID)
        assert chats.add_turn(connection, "c1", "more", ["a", "b"], NOW) == 2
    with database.read() as connection:
        transcript = chats.read_transcript(connection, "c1")
    assert transcript.chat == CHAT
    first, second = transcript.turns
    assert (first.prompt, first.order, first.answers) == ("何？", ("b", "a"), {"a": SAID})
    assert (second.number, second.answers, second.votes) == (2, {}, ())


def test_an_endpoint_answers_a_turn_once(database: Database) -> None:
    with database.write() as connection:
        chats.add_turn(connection, "c1", "x", ["a"], NOW)
        chats.add_answer(connection, "c1", 1, SAID)
    with pytest.raises(StoreError), database.write() as connection:
        chats.add_answer(connection, "c1", 1, SAID)


def test_of_two_votes_with_one_token_the_first_counts(database: Database) -> None:
    with database.write() as connection:
        chats.add_turn(connection, "c1", "x", ["a", "b"], NOW)
        assert chats.add_vote(connection, "c1", VOTE) == VOTE
        assert chats.add_vote(connection, "c1", replace(VOTE, choice="b")) == VOTE
        other = replace(VOTE, voter="kim", token="another")
        assert chats.add_vote(connection, "c1", other) == other
        assert chats.read_transcript(connection, "c1").turns[0].votes == (VOTE, other)


def test_votes_of_reviewers_are_found_by_what_they_were_let_into(database: Database) -> None:
    own = replace(CHAT, id="c2", owner="ann", origin="c1")
    with database.write() as connection:
        chats.set_open(connection, "c1", True)
        chats.add_chat(connection, own)
        chats.add_turn(connection, "c2", "x", ["a", "b"], NOW)
        chats.add_vote(connection, "c2", VOTE)
        assert chats.votes_through(connection, "c1") == [VOTE]
        assert [chat.id for chat in chats.open_chats(connection)] == ["c1"]


def test_a_chat_that_is_not_there_is_told(database: Database) -> None:
    with database.read() as connection, pytest.raises(NotFoundError, match="no such chat"):
        chats.read_transcript(connection, "none")
