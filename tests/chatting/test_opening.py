"""Blind chats opened to reviewers, and when they may not be."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import insert, update

from evalbot.chatting.chats import vote
from evalbot.chatting.opening import (
    close_to_reviewers,
    count_votes,
    join_chat,
    offered_chats,
    open_to_reviewers,
)
from evalbot.domain.chats import TIE
from evalbot.errors import InputError
from evalbot.store.review_schema import campaign_table
from evalbot.store.schema import run_table
from tests.chatting.talking import ANN, LEE, Talk


def begin_campaign(talk: Talk, *endpoints: str) -> str:
    """An open campaign over a new run of these endpoints; its run."""
    run = talk.site.new(endpoints=endpoints).run.id
    with talk.database.write() as connection:
        row = connection.execute(run_table.select().where(run_table.c.id == run)).one()
        connection.execute(
            insert(campaign_table).values(
                id="c1",
                run=run,
                plan={},
                suite_text=row.suite_text,
                rubric_text=row.rubric_text,
                rubric_rule=row.rubric_text,
                created_by="lee",
                created_at=datetime.now(UTC),
            )
        )
    return run


def end_campaign(talk: Talk) -> None:
    with talk.database.write() as connection:
        connection.execute(update(campaign_table).values(closed_at=datetime.now(UTC)))


def test_a_reviewer_gets_a_chat_of_their_own_that_never_shows_names(talk: Talk) -> None:
    opened = talk.start(blind=True, system="Be short.")
    open_to_reviewers(talk.database, LEE, opened.id)
    assert [chat.id for chat in offered_chats(talk.database)] == [opened.id]
    own = join_chat(talk.database, ANN, opened.id)
    assert own.settings == opened.settings
    turn = talk.ask(own, "hi", ANN)
    vote(talk.database, ANN, own.id, 1, "a")
    transcript = talk.read(own, ANN)
    assert not transcript.shows_names(transcript.turns[0])
    assert set(turn.order) == {"a", "b"}
    assert count_votes(talk.database, LEE, opened.id) == {"a": 1, "b": 0, "tie": 0, "all_bad": 0}


def test_only_a_blind_chat_of_ones_own_is_opened(talk: Talk) -> None:
    open_chat, blind = talk.start(), talk.start(blind=True)
    with pytest.raises(InputError, match="only a blind chat"):
        open_to_reviewers(talk.database, LEE, open_chat.id)
    with pytest.raises(InputError, match="somebody else's"):
        open_to_reviewers(talk.database, ANN, blind.id)
    open_to_reviewers(talk.database, LEE, blind.id)
    own = join_chat(talk.database, ANN, blind.id)
    with pytest.raises(InputError, match="only they can open it"):
        open_to_reviewers(talk.database, ANN, own.id)


def test_a_closed_chat_takes_no_more_prompts_and_keeps_its_votes(talk: Talk) -> None:
    opened = talk.start(blind=True)
    open_to_reviewers(talk.database, LEE, opened.id)
    own = join_chat(talk.database, ANN, opened.id)
    talk.ask(own, "hi", ANN)
    close_to_reviewers(talk.database, LEE, opened.id)
    with pytest.raises(InputError, match="closed now"):
        talk.ask(own, "and now", ANN)
    with pytest.raises(InputError, match="closed now"):
        join_chat(talk.database, ANN, opened.id)
    vote(talk.database, ANN, own.id, 1, TIE)
    assert count_votes(talk.database, LEE, opened.id)[TIE] == 1


def test_endpoints_of_an_open_campaign_are_not_opened(talk: Talk) -> None:
    run = begin_campaign(talk, "b")
    chat = talk.start(blind=True)
    with pytest.raises(InputError, match=rf"grade b in an open campaign of run {run}"):
        open_to_reviewers(talk.database, LEE, chat.id)
    end_campaign(talk)
    open_to_reviewers(talk.database, LEE, chat.id)


def test_a_campaign_begun_later_closes_the_chat_while_it_lasts(talk: Talk) -> None:
    opened = talk.start(blind=True)
    open_to_reviewers(talk.database, LEE, opened.id)
    own = join_chat(talk.database, ANN, opened.id)
    begin_campaign(talk, "a")
    assert offered_chats(talk.database) == []
    with pytest.raises(InputError, match="closed now"):
        talk.ask(own, "hi", ANN)
    end_campaign(talk)
    assert talk.ask(own, "hi", ANN).number == 1


def test_what_an_open_campaign_asks_is_not_asked_in_an_open_chat(talk: Talk) -> None:
    talk.site.endpoint("other", talk.site.config.endpoints[0].base_url)
    begin_campaign(talk, "other")
    opened = talk.start(blind=True)
    open_to_reviewers(talk.database, LEE, opened.id)
    own = join_chat(talk.database, ANN, opened.id)
    with pytest.raises(InputError, match="question of a review"):
        talk.ask(own, "p1 ", ANN)
    assert talk.ask(opened, "p1").number == 1
