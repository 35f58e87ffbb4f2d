"""One prompt to several endpoints: side by side, streamed, stopped, left."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from evalbot.chatting.live import Stage
from evalbot.chatting.room import Snapshot
from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.chats import ChatTurn
from evalbot.errors import InputError, NotFoundError
from tests.chatting.talking import ANN, LEE, Talk
from tests.fault_server import FaultServer, Step, answer, chunk, closed_port, failing, stream
from tests.waiting import until

HANGING = stream(chunk("so far"), Step.HANG)
GATED = stream(chunk("slow"), Step.GATE, chunk(" but sure"), chunk(finish="stop"))


def statuses(turn: ChatTurn) -> dict[str, S]:
    return {name: said.answer.status for name, said in turn.answers.items()}


def texts(turn: ChatTurn) -> dict[str, str]:
    return {name: said.answer.text for name, said in turn.answers.items()}


def column_text(snapshot: Snapshot, name: str) -> str:
    return next((one.text for one in snapshot.columns if one.endpoint == name), "")


def test_every_endpoint_answers_and_is_on_record(talk: Talk) -> None:
    chat = talk.start()
    turn = talk.ask(chat, "hello")
    assert texts(turn) == {"a": "answer to hello", "b": "answer to hello"}
    assert turn.order == ("a", "b")
    said = turn.answers["a"]
    assert (said.model_id, said.answer.usage.prompt_tokens) == ("qwen-test", 9)
    assert said.settings["sampling"] == {"max_tokens": 8}


def test_answers_are_seen_while_they_come(talk: Talk, a: FaultServer) -> None:
    a.on("go", GATED)
    chat = talk.start()

    def enough(snapshot: Snapshot) -> bool:
        if column_text(snapshot, "a") == "slow" and not snapshot.is_done:
            a.open_gate()
        return False

    seen = asyncio.run(talk.watch(chat, "go", enough=enough))
    assert column_text(seen[-1], "a") == "slow but sure"
    assert seen[-1].is_done
    assert not any(snapshot.is_done for snapshot in seen[:-1])


def test_thinking_is_counted_and_kept_out_of_the_text(talk: Talk, a: FaultServer) -> None:
    parts = (chunk("<think>well"), Step.GATE, chunk("</think>42"), chunk(finish="stop"))
    a.on("why", stream(*parts))
    chat = talk.start("a")
    before_it_answers: list[str] = []

    def enough(snapshot: Snapshot) -> bool:
        # Once the gate is open, a later snapshot may have the text before it is done.
        if snapshot.columns[0].thought and not before_it_answers:
            before_it_answers.append(snapshot.columns[0].text)
            a.open_gate()
        return False

    asyncio.run(talk.watch(chat, "why", enough=enough))
    assert before_it_answers == [""]
    said = talk.read(chat).turns[0].answers["a"].answer
    assert (said.text, said.reasoning) == ("42", "well")


def test_each_endpoint_is_sent_its_own_earlier_answers(
    talk: Talk, a: FaultServer, b: FaultServer
) -> None:
    a.on("one", answer("said by a"))
    b.on("one", failing(400, "no"))
    chat = talk.start(system="Be short.", sampling={"temperature": 0.5, "max_tokens": 20})
    talk.ask(chat, "one")
    talk.ask(chat, "two")
    system = {"role": "system", "content": "Be short."}
    two = {"role": "user", "content": "two"}
    assert a.chats[-1].body["messages"] == [
        system,
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "said by a"},
        two,
    ]
    assert b.chats[-1].body["messages"] == [system, two]
    assert a.chats[-1].body["temperature"] == 0.5
    assert a.chats[-1].body["max_tokens"] == 20


def test_a_dead_endpoint_and_a_failing_one_hold_up_nobody(talk: Talk, b: FaultServer) -> None:
    b.on("hi", failing(500, "out of order"))
    with closed_port() as nobody, FaultServer() as c:
        talk.site.endpoint("dead", nobody)
        talk.site.endpoint("c", c.base_url)
        turn = talk.ask(talk.start("dead", "b", "c"), "hi")
    assert statuses(turn) == {"dead": S.CONNECTION, "b": S.HTTP, "c": S.OK}
    assert "out of order" in (turn.answers["b"].answer.error_detail or "")
    assert turn.answers["dead"].model_id is None


def test_one_endpoint_is_stopped_by_itself_and_keeps_what_it_said(
    talk: Talk, a: FaultServer, b: FaultServer
) -> None:
    a.on("go", HANGING)
    b.on("go", GATED)
    chat = talk.start()

    def enough(snapshot: Snapshot) -> bool:
        stages = {one.endpoint: one.stage for one in snapshot.columns}
        if column_text(snapshot, "a") and stages["a"] is not Stage.DONE:
            talk.room.stop(ANN, chat.id, "a")  # it is not hers
            talk.room.stop(LEE, chat.id, "a")
        if stages["a"] is Stage.DONE:
            b.open_gate()
        return False

    asyncio.run(talk.watch(chat, "go", enough=enough))
    turn = talk.read(chat).turns[0]
    assert statuses(turn) == {"a": S.CANCELLED, "b": S.OK}
    assert texts(turn) == {"a": "so far", "b": "slow but sure"}
    assert a.aborted == 1


def test_leaving_keeps_what_was_done_and_cancels_the_rest(talk: Talk, a: FaultServer) -> None:
    a.on("go", HANGING)
    chat = talk.start()

    def enough(snapshot: Snapshot) -> bool:
        done = [one.endpoint for one in snapshot.columns if one.stage is Stage.DONE]
        return done == ["b"] and column_text(snapshot, "a") == "so far"

    async def leave() -> None:
        await talk.watch(chat, "go", enough=enough)
        await until(lambda: a.aborted)

    asyncio.run(leave())
    turn = talk.read(chat).turns[0]
    assert statuses(turn) == {"a": S.CANCELLED, "b": S.OK}
    assert texts(turn) == {"a": "so far", "b": "answer to go"}
    assert turn.was_stopped


def test_leaving_at_once_leaves_no_endpoint_without_a_record(talk: Talk) -> None:
    chat = talk.start()
    asyncio.run(talk.watch(chat, "go", enough=lambda _: True))
    turn = talk.read(chat).turns[0]
    assert set(turn.answers) == {"a", "b"}
    assert talk.ask(chat, "again").number == 2


def test_a_silent_endpoint_does_not_hide_that_the_page_has_gone(talk: Talk, a: FaultServer) -> None:
    a.on("go", stream(Step.HANG))
    chat = talk.start("a")
    count = iter(range(3))
    asyncio.run(talk.watch(chat, "go", enough=lambda _: next(count, None) == 2))
    assert statuses(talk.read(chat).turns[0]) == {"a": S.CANCELLED}


def test_endpoints_of_one_group_take_turns(talk: Talk) -> None:
    events: list[str] = []
    with FaultServer("x", events=events) as x, FaultServer("y", events=events) as y:
        x.on("go", GATED)
        talk.site.endpoint("x", x.base_url, group="gpu")
        talk.site.endpoint("y", y.base_url, group="gpu")
        chat = talk.start("x", "y")

        def enough(snapshot: Snapshot) -> bool:
            if column_text(snapshot, "x") == "slow":
                assert snapshot.columns[1].stage is Stage.WAITING
                assert events == ["x:go"]
                x.open_gate()
            return False

        asyncio.run(talk.watch(chat, "go", enough=enough))
    assert events == ["x:go", "y:go"]


def test_a_chat_answers_one_prompt_at_a_time(talk: Talk, a: FaultServer) -> None:
    a.on("go", HANGING)
    chat = talk.start("a")

    async def twice() -> None:
        async with aclosing(talk.room.ask(LEE, chat.id, "go", lambda: talk.site.config)) as first:
            await anext(first)
            assert talk.room.running_turn(chat.id) == 1
            with pytest.raises(InputError, match="being answered already"):
                await talk.watch(chat, "and another")
        assert talk.room.running_turn(chat.id) is None

    asyncio.run(twice())
    assert len(talk.read(chat).turns) == 1


def test_a_blind_turn_tells_nothing_until_all_is_done(talk: Talk, a: FaultServer) -> None:
    a.on("go", stream(chunk("slow"), Step.GATE, chunk(finish="stop")))
    chat = talk.start(blind=True)
    count = iter(range(9))

    def enough(snapshot: Snapshot) -> bool:
        if next(count) == 1:
            a.open_gate()
        return False

    seen = asyncio.run(talk.watch(chat, "go", enough=enough))
    assert {snapshot.columns for snapshot in seen[:-1]} == {()}
    assert {one.endpoint for one in seen[-1].columns} == {"a", "b"}
    assert seen[0].asked == 2


def test_the_order_of_a_blind_turn_is_shuffled_and_kept(talk: Talk) -> None:
    chat = talk.start(blind=True)
    orders = {talk.ask(chat, f"p{number}").order for number in range(12)}
    assert orders == {("a", "b"), ("b", "a")}


def test_a_prompt_that_cannot_fit_is_not_sent(talk: Talk, a: FaultServer) -> None:
    a.slot_context = 50
    turn = talk.ask(talk.start(), "x" * 60)
    assert statuses(turn) == {"a": S.CONTEXT_OVERFLOW, "b": S.OK}
    assert a.prompts == []


def test_what_cannot_be_asked_is_refused_and_leaves_no_trace(talk: Talk) -> None:
    with pytest.raises(InputError, match="two endpoints or more"):
        talk.start("a", blind=True)
    chat = talk.start()
    with pytest.raises(InputError, match="type a prompt"):
        talk.ask(chat, " \n")
    with pytest.raises(InputError, match="somebody else's"):
        talk.ask(chat, "hi", ANN)
    assert talk.read(chat).turns == ()
    with pytest.raises(NotFoundError, match="has no endpoint 'A'"):
        talk.start("A", "b")
