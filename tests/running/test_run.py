from __future__ import annotations

import asyncio

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.answers import Place
from evalbot.domain.runs import RunState
from tests.fault_server import (
    FaultServer,
    Reply,
    Step,
    answer,
    closed_port,
    default_answer,
    event,
    failing,
    stream,
)
from tests.waiting import until

from .site import Site


def test_every_endpoint_is_asked_every_case_in_every_repeat(
    any_site: Site, server: FaultServer, other: FaultServer
) -> None:
    any_site.endpoint("a", server.base_url)
    any_site.endpoint("b", other.base_url)
    run = any_site.new(repeats=2, label="first").run
    assert any_site.work(any_site.resumed(run.id))
    assert any_site.texts(run.id) == {
        Place(f"c{i}", name, repeat): default_answer(f"p{i}")
        for i in range(4)
        for name in "ab"
        for repeat in (1, 2)
    }
    assert any_site.verdicts(run.id) == {"right": 16}
    any_site.check_record(run.id)
    after = any_site.run(run.id)
    assert (after.state, after.label) == (RunState.FINISHED, "first")
    assert after.finished_at is not None


def test_what_an_endpoint_turned_out_to_be_is_recorded(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    site.work(prepared)
    [recorded] = site.run(prepared.run.id).endpoints
    assert (recorded.family, recorded.quantisation, recorded.model_id) == (
        "qwen", "Q4_1", "qwen-test"
    )  # fmt: skip
    assert (recorded.slots, recorded.slot_context, recorded.concurrency) == (4, 4096, 4)
    models = {one.model_fingerprint for one in site.answers(prepared.run.id)}
    assert models == {recorded.model_fingerprint}


def test_all_cases_are_asked_once_before_any_a_second_time(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url, concurrency=1)
    site.work(site.new(repeats=2))
    assert server.prompts == ["p0", "p1", "p2", "p3"] * 2


@pytest.mark.parametrize(
    ("slots", "setting", "option", "expected"),
    [(2, None, None, 2), (2, 3, None, 3), (2, 3, 1, 1), (9, None, None, 6)],
)
def test_as_many_are_asked_at_once_as_there_are_slots(
    slots: int, setting: int | None, option: int | None, expected: int, site: Site,
    server: FaultServer,
) -> None:  # fmt: skip
    server.slots, server.pace_s = slots, 0.02
    site.write_cases([f"p{i}" for i in range(6)])
    site.endpoint("a", server.base_url, concurrency=setting)
    site.work(site.new(), concurrency=option)
    assert server.most_at_once == expected


def test_endpoints_are_asked_side_by_side_and_none_holds_up_another(
    site: Site, server: FaultServer, other: FaultServer
) -> None:
    """The slow one is let go only when the other has finished, and the dead one is dead."""
    for i in range(4):
        server.on(f"p{i}", answer("late", before=(Step.GATE,)))
    with closed_port() as nobody:
        site.endpoint("slow", server.base_url)
        site.endpoint("dead", nobody)
        site.endpoint("quick", other.base_url)
        prepared = site.new()

        async def work() -> bool:
            with site.open() as database:
                runner = site.runner(database, prepared)
                working = asyncio.create_task(runner.execute())
                progress = runner.progress
                await until(lambda: progress.endpoints and progress.endpoints["quick"].done == 4)
                await until(lambda: progress.endpoints["dead"].done == 4)
                assert progress.endpoints["slow"].done == 0
                server.open_gate()
                return await working

        assert asyncio.run(work())
    run = prepared.run.id
    assert site.statuses(run, "slow") == {S.OK: 4}
    assert site.statuses(run, "quick") == {S.OK: 4}
    assert site.statuses(run, "dead") == {S.CONNECTION: 4}
    site.check_record(run)


def test_endpoints_of_one_group_take_turns_whole(site: Site) -> None:
    events: list[str] = []
    with (
        FaultServer("x", events=events) as one,
        FaultServer("y", events=events) as two,
        FaultServer("z", events=events) as three,
    ):
        one.pace_s = two.pace_s = 0.01
        site.endpoint("one", one.base_url, group="gpu")
        site.endpoint("three", three.base_url)
        site.endpoint("two", two.base_url, group="gpu")
        site.work(site.new(repeats=2))
    grouped = [line[0] for line in events if line[0] != "z"]
    assert grouped == ["x"] * 8 + ["y"] * 8
    assert len(events) == 24


def test_an_endpoint_of_a_group_that_fails_lets_the_next_have_its_turn(
    site: Site, server: FaultServer
) -> None:
    with closed_port() as nobody:
        site.endpoint("dead", nobody, group="gpu")
        site.endpoint("alive", server.base_url, group="gpu")
        prepared = site.new()
        assert site.work(prepared)
    assert site.statuses(prepared.run.id, "alive") == {S.OK: 4}


def test_an_unreachable_endpoint_gets_connection_answers(any_site: Site) -> None:
    with closed_port() as nobody:
        any_site.endpoint("dead", nobody)
        prepared = any_site.new()
        assert any_site.work(prepared)
    answers = any_site.answers(prepared.run.id)
    assert {one.answer.status for one in answers} == {S.CONNECTION}
    assert all("is it running?" in (one.answer.error_detail or "") for one in answers)
    assert any_site.verdicts(prepared.run.id) == {"connection": 4}
    any_site.check_record(prepared.run.id)


def test_a_refused_key_gets_http_answers(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "right"
    monkeypatch.setenv("TEST_KEY", "wrong")
    site.endpoint("a", server.base_url, api_key_env="TEST_KEY")
    prepared = site.new()
    assert site.work(prepared)
    assert site.statuses(prepared.run.id) == {S.HTTP: 4}
    assert "check api_key_env" in (site.answers(prepared.run.id)[0].answer.error_detail or "")


def test_an_endpoint_that_dies_half_way_is_not_asked_to_the_end(
    site: Site, server: FaultServer
) -> None:
    site.write_cases([f"p{i}" for i in range(60)])
    server.die_after = 10
    site.endpoint("a", server.base_url)
    prepared = site.new()
    assert site.work(prepared)
    statuses = site.statuses(prepared.run.id)
    assert statuses[S.OK] >= 6
    assert statuses[S.OK] + statuses[S.CONNECTION] + statuses[S.STREAM_BROKEN] == 60
    last = site.answers(prepared.run.id)[-1].answer
    details = [one.answer.error_detail or "" for one in site.answers(prepared.run.id)]
    assert any("the rest was not asked" in detail for detail in details)
    assert last.status is not S.CANCELLED
    site.check_record(prepared.run.id)


def test_one_bad_answer_spoils_no_other(any_site: Site, server: FaultServer) -> None:
    bad = [
        failing(500, "a\x00\ud83d"),
        stream(b"data: \x00{\n\n"),
        stream(Step.BREAK),
        Reply(before=(Step.HANG,)),
        stream(event({"choices": [{"delta": {"content": "\ud83d\x00"}, "finish_reason": "st\x00"}],
                      "usage": {"prompt_tokens": 10**20, "completion_tokens": 2**31}})),
        stream(b"data: " + b"[" * 100_000 + b"\n\n"),
    ]  # fmt: skip
    any_site.write_cases([f"p{i}" for i in range(10)])
    for i, reply in enumerate(bad):
        server.on(f"p{i}", reply)
    any_site.endpoint("a", server.base_url, timeout_s=3)
    prepared = any_site.new()
    assert any_site.work(prepared)
    by_case = {one.place.case: one.answer.status for one in any_site.answers(prepared.run.id)}
    assert [by_case[f"c{i}"] for i in range(10)] == [
        S.HTTP, S.MALFORMED, S.STREAM_BROKEN, S.TIMEOUT, S.OK, S.MALFORMED, *[S.OK] * 4
    ]  # fmt: skip
    any_site.check_record(prepared.run.id)


def test_a_prompt_that_cannot_fit_is_not_sent(any_site: Site, server: FaultServer) -> None:
    server.slot_context = 100
    any_site.write_cases(["short", "x" * 120])
    any_site.endpoint("a", server.base_url, concurrency=1)
    prepared = any_site.new(repeats=2)
    assert any_site.work(prepared)
    assert server.prompts == ["short"] * 2
    assert server.counted == ["x", "x" * 120]
    long = [one.answer for one in any_site.answers(prepared.run.id) if one.place.case == "c1"]
    assert [one.status for one in long] == [S.CONTEXT_OVERFLOW] * 2
    assert "130 tokens" in (long[0].error_detail or "")
    assert "100" in (long[0].error_detail or "")
    assert long[0].usage.prompt_tokens is None
    assert any_site.verdicts(prepared.run.id) == {"right": 2, "context_overflow": 2}


def test_a_run_of_many_answers_is_recorded_whole(any_site: Site, server: FaultServer) -> None:
    any_site.write_cases([f"p{i}" for i in range(700)])
    server.slots = 64
    any_site.endpoint("a", server.base_url)
    prepared = any_site.new()
    assert any_site.work(prepared)
    assert any_site.verdicts(prepared.run.id) == {"right": 700}
    any_site.check_record(prepared.run.id)
