"""--self-check: a model looks at its own answer once more; both answers are kept."""

from __future__ import annotations

from collections import Counter

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.answers import Place
from evalbot.domain.cases import Message
from evalbot.domain.rubrics import Layer
from evalbot.formats.tables import render
from evalbot.reporting.answers import AnswerFilter, shown_answers
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rate_table import people_tables
from evalbot.reporting.rates import rate_rows
from evalbot.running.self_check import WORDS, check_conversation
from tests.fault_server import Chat, FaultServer, Reply, answer, default_answer, failing

from .site import Site

CHECK = WORDS["en"]


def checked(chat: Chat) -> Reply:
    """Wrong at first, right when it has looked once more; but c3's prompt the other way round."""
    is_check = chat.prompt == CHECK
    prompt = chat.body["messages"][-3]["content"] if is_check else chat.prompt
    is_right = is_check != (prompt == "p3")
    return answer(default_answer(prompt) if is_right else "no")


def rows(site: Site, run: str) -> dict[str, RateRow]:
    with site.open() as database:
        found = rate_rows(database, [run], site.folder, RateQuery(Layer.AUTO))
    return {row.model: row for row in found}


def test_the_model_is_shown_its_own_answer_and_asked_once_more(
    any_site: Site, server: FaultServer
) -> None:
    any_site.endpoint("a", server.base_url)
    server.slots = 1
    prepared = any_site.new(self_check=True)
    assert any_site.work(prepared) is True
    assert server.prompts == ["p0", CHECK, "p1", CHECK, "p2", CHECK, "p3", CHECK]
    turns = [(turn["role"], turn["content"]) for turn in server.chats[1].body["messages"]]
    assert turns == [("user", "p0"), ("assistant", "answer to p0"), ("user", CHECK)]
    places = Counter(one.place.pass_ for one in any_site.answers(prepared.run.id))
    assert places == {1: 4, 2: 4}
    any_site.check_record(prepared.run.id)


def test_gain_and_cost_can_be_read(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    server.reply = checked
    prepared = site.new(self_check=True)
    site.work(prepared)
    found = rows(site, prepared.run.id)
    assert set(found) == {"a", "a +check"}
    assert found["a"].rate.counts["right"] == 1
    assert found["a +check"].rate.counts["right"] == 3
    with site.open() as database:
        query = RateQuery(Layer.AUTO, models=("a +check",))
        only = rate_rows(database, [prepared.run.id], site.folder, query)
        shown = list(shown_answers(database, prepared.run.id, AnswerFilter(models=("a +check",))))
    assert [row.model for row in only] == ["a +check"]
    assert {one.recorded.place.pass_ for one in shown} == {2}
    assert (found["a +check"].rate.n, found["a"].rate.n) == (4, 4)
    assert (found["a +check"].speed.total_ms_p50 or 0) > 0
    table = render(*people_tables(list(found.values())), form="md").decode()
    assert "a +check: its own answers checked once more: " in table
    assert "75.0 % → 25.0 %, at 0.0 s more an answer (median)" in table
    assert "| answer s |" in table


def test_what_failed_has_nothing_to_be_checked(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    server.on("p1", failing(404))
    server.on("p2", answer("cut", finish="length"))
    prepared = site.new(self_check=True)
    assert site.work(prepared) is True
    assert site.statuses(prepared.run.id) == {S.OK: 4, S.HTTP: 1, S.TRUNCATED: 1}
    found = rows(site, prepared.run.id)["a +check"]
    assert found.rate.reasons == {"http": 1, "truncated": 1}
    assert (found.rate.n, found.rate.unscored) == (2, 2)


def test_a_run_cut_short_checks_what_was_not_checked(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    server.slots = 1
    server.on(CHECK, answer("fine"), failing(500))
    prepared = site.new(self_check=True)
    site.work(prepared)
    assert site.statuses(prepared.run.id) == {S.OK: 5, S.HTTP: 3}
    server.on(CHECK, answer("fine"))
    server.chats.clear()
    assert site.resume(prepared.run.id, retry_failed=True) is True
    assert server.prompts == [CHECK] * 3
    assert {turn["content"] for chat in server.chats for turn in chat.body["messages"][:1]} == {
        "p1", "p2", "p3"
    }  # fmt: skip
    assert site.statuses(prepared.run.id) == {S.OK: 8}
    site.check_record(prepared.run.id)


def test_self_checks_can_be_added_to_a_run(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    site.work(prepared)
    server.chats.clear()
    assert site.resume(prepared.run.id, self_check=True) is True
    assert server.prompts == [CHECK] * 4
    assert len(site.answers(prepared.run.id)) == 8
    server.chats.clear()
    assert site.resume(prepared.run.id) is True
    assert server.prompts == []


def test_a_check_that_does_not_fit_is_not_sent(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    server.slot_context = 60
    server.reply = lambda chat: answer("x" * (70 if chat.prompt == "p1" else 3))
    prepared = site.new(self_check=True)
    site.work(prepared)
    overflown = {
        one.place
        for one in site.answers(prepared.run.id)
        if one.answer.status is S.CONTEXT_OVERFLOW
    }
    assert Place("c1", "a", 1, 2) in overflown
    assert all(place.pass_ == 2 for place in overflown)


def test_repeats_are_checked_each(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new(self_check=True, repeats=2)
    site.work(prepared)
    assert len(site.answers(prepared.run.id)) == 16
    assert rows(site, prepared.run.id)["a +check"].rate.n == 4


@pytest.mark.parametrize(
    ("prompt", "language"), [("What is it?", "en"), ("これは何ですか", "ja"), ("这是什么", "zh")]
)
def test_it_is_asked_in_the_language_of_the_question(prompt: str, language: str) -> None:
    made = check_conversation((Message("user", prompt),), "x", WORDS)
    assert made[-1] == Message("user", WORDS[language])
    assert made[:2] == (Message("user", prompt), Message("assistant", "x"))
