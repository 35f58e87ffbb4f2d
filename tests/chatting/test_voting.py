"""Votes: what can be voted for, once each, and when names are shown."""

from __future__ import annotations

import pytest

from evalbot.chatting.chats import grade_answers, list_chats, vote
from evalbot.domain.chats import ALL_BAD, GRADED, TIE
from evalbot.errors import InputError
from tests.chatting.talking import ANN, LEE, Talk
from tests.fault_server import FaultServer, answer, failing


def test_a_vote_counts_once_and_is_kept_with_what_it_was_between(talk: Talk) -> None:
    chat = talk.start(blind=True)
    turn = talk.ask(chat, "hi")
    first = vote(talk.database, LEE, chat.id, 1, "b")
    assert vote(talk.database, LEE, chat.id, 1, TIE) == first
    assert talk.read(chat).turns[0].votes == (first,)
    assert (first.models, first.choice, first.is_blind) == (turn.order, "b", True)


def test_names_are_shown_after_the_vote_only(talk: Talk) -> None:
    chat = talk.start(blind=True)
    talk.ask(chat, "one")
    vote(talk.database, LEE, chat.id, 1, ALL_BAD)
    talk.ask(chat, "two")
    transcript = talk.read(chat)
    assert [transcript.shows_names(turn) for turn in transcript.turns] == [True, False]


def test_a_vote_with_the_names_in_sight_is_told_apart(talk: Talk) -> None:
    chat = talk.start()
    talk.ask(chat, "hi")
    assert not vote(talk.database, LEE, chat.id, 1, "a").is_blind


def test_each_answer_may_be_graded_instead(talk: Talk) -> None:
    chat = talk.start(blind=True)
    talk.ask(chat, "hi")
    for wrong in ({}, {"a": "good"}, {"a": "good", "b": "great"}, {"a": "good", "c": "bad"}):
        with pytest.raises(InputError, match="grade every answer"):
            grade_answers(talk.database, LEE, chat.id, 1, wrong)
    given = grade_answers(talk.database, LEE, chat.id, 1, {"a": "good", "b": "bad"})
    assert (given.choice, given.grades, given.is_blind) == (
        GRADED, {"a": "good", "b": "bad"}, True,
    )  # fmt: skip
    # One word a person and turn, whichever way it was said.
    assert vote(talk.database, LEE, chat.id, 1, "a") == given
    transcript = talk.read(chat)
    assert transcript.shows_names(transcript.turns[0])


def test_a_failed_answer_cannot_be_voted_for(talk: Talk, b: FaultServer) -> None:
    with FaultServer() as c:
        talk.site.endpoint("c", c.base_url)
        b.on("hi", failing(400, "no"))
        chat = talk.start("a", "b", "c", blind=True)
        talk.ask(chat, "hi")
    with pytest.raises(InputError, match="names no answer"):
        vote(talk.database, LEE, chat.id, 1, "b")
    assert set(vote(talk.database, LEE, chat.id, 1, "a").models) == {"a", "c"}


def test_with_one_answer_there_is_nothing_to_vote_on_and_names_are_shown(
    talk: Talk, b: FaultServer
) -> None:
    b.on("hi", failing(400, "no"))
    chat = talk.start(blind=True)
    turn = talk.ask(chat, "hi")
    with pytest.raises(InputError, match="nothing to vote on"):
        vote(talk.database, LEE, chat.id, 1, "a")
    assert talk.read(chat).shows_names(turn)


def test_nobody_votes_in_anothers_chat_or_on_no_turn(talk: Talk) -> None:
    chat = talk.start()
    with pytest.raises(InputError, match="somebody else's"):
        vote(talk.database, ANN, chat.id, 1, "a")
    with pytest.raises(InputError, match="nothing to vote on"):
        vote(talk.database, LEE, chat.id, 1, "a")


def test_earlier_chats_are_listed_for_their_owner(talk: Talk, a: FaultServer) -> None:
    a.on("first prompt", answer("yes"))
    older, newer = talk.start(), talk.start(blind=True)
    talk.ask(older, "first prompt")
    lines = list_chats(talk.database, LEE)
    assert [(line.chat.id, line.prompt, line.turns) for line in lines] == [
        (newer.id, None, 0),
        (older.id, "first prompt", 1),
    ]
    assert list_chats(talk.database, ANN) == []
