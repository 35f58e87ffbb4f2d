from __future__ import annotations

import asyncio
from unittest.mock import Mock

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.endpoints import EndpointFacts, LoadedModel
from evalbot.domain.runs import RunState
from evalbot.running.progress import EndpointProgress
from evalbot.running.turn import Turn
from tests.fault_server import FaultServer, answer, failing

from .site import Site

OFTEN = 0.02


def many(site: Site, count: int = 40) -> None:
    site.write_cases([f"p{i}" for i in range(count)])


def test_an_endpoint_whose_model_changes_is_stopped_and_the_others_go_on(
    any_site: Site, server: FaultServer, other: FaultServer
) -> None:
    site = any_site
    many(site)
    server.swap_after, server.pace_s = 12, 0.01
    site.endpoint("changing", server.base_url)
    site.endpoint("steady", other.base_url)
    prepared = site.new()
    run = prepared.run.id
    assert not site.work(prepared, model_check_s=OFTEN)
    assert len(server.chats) < 40
    assert site.statuses(run, "steady") == {S.OK: 40}
    after = site.run(run)
    assert after.state is RunState.STOPPED
    reason = after.endpoints[0].stopped_reason or ""
    assert "it was qwen-test, now it is another-model" in reason
    assert after.endpoints[1].stopped_reason is None
    # Nothing the other model may have said counts.
    trusted = [one for one in site.answers(run) if one.place.endpoint == "changing"]
    assert sum(one.answer.status is S.OK for one in trusted) < 12 + 4
    assert {one.answer.status for one in trusted} <= {S.OK, S.CANCELLED}
    site.check_record(run)


def test_answers_by_nobody_knows_which_model_are_asked_again(
    site: Site, server: FaultServer
) -> None:
    many(site)
    server.swap_after = 12
    site.endpoint("a", server.base_url, concurrency=1)
    prepared = site.new()
    run = prepared.run.id
    # Never looked at in between: only the look at the end tells.
    assert not site.work(prepared, model_check_s=60)
    assert len(server.chats) == 40
    assert site.statuses(run) == {S.CANCELLED: 40}
    assert all("may be by either" in (one.answer.error_detail or "") for one in site.answers(run))
    server.swap_after, server.models = None, ["qwen-test"]
    assert site.resume(run)
    assert site.statuses(run) == {S.OK: 40}
    assert site.run(run).endpoints[0].stopped_reason is None
    texts = [one for one in site.answers(run, all_attempts=True) if one.answer.text]
    assert len(texts) == 80  # what was said first stays, and does not count
    site.check_record(run)


def test_another_model_is_not_asked_on_resume(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    run = prepared.run.id
    site.work(prepared)
    server.models = ["third"]
    server.chats.clear()
    assert not site.resume(run, repeats=2)
    assert server.chats == []
    assert "it was qwen-test, now it is third" in (site.run(run).endpoints[0].stopped_reason or "")
    server.models = ["qwen-test"]
    assert site.resume(run)
    assert len(server.chats) == 4
    assert site.run(run).state is RunState.FINISHED


def test_a_look_before_a_retry_notices_too(site: Site, server: FaultServer) -> None:
    server.on("p0", failing(503), answer("by another"))
    server.swap_after = 1
    site.endpoint("a", server.base_url, retries=1, concurrency=1)
    prepared = site.new()
    assert not site.work(prepared, model_check_s=60)
    assert server.prompts == ["p0", "p0"]
    assert site.statuses(prepared.run.id) == {S.CANCELLED: 1}


@pytest.mark.parametrize("status", [429, 500, 503, 401])
def test_a_server_that_does_not_tell_its_model_for_a_while_is_not_stopped(
    status: int, site: Site, server: FaultServer
) -> None:
    many(site)
    server.pace_s = 0.01
    site.endpoint("a", server.base_url)
    prepared = site.new()

    class Failing(dict[str, int]):
        """From the second look on the route fails."""

        def __contains__(self, path: object) -> bool:
            return path == "/props" and server.looks > 1

        def __getitem__(self, path: str) -> int:
            return status

    server.route_status = Failing()
    assert site.work(prepared, model_check_s=OFTEN)
    assert server.looks > 1
    assert site.statuses(prepared.run.id) == {S.OK: 40}


def test_two_looks_at_once_clear_only_the_answers_each_saw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[asyncio.Future[LoadedModel]] = []

    async def look(*_: object) -> LoadedModel:
        looks.append(asyncio.get_running_loop().create_future())
        return await looks[-1]

    async def both() -> int:
        turn = Turn(Mock(), Mock(), EndpointProgress("e", 9))
        facts = EndpointFacts(LoadedModel("m", "f"))
        turn._unverified.extend([Mock()] * 3)
        first = asyncio.create_task(turn._verify(Mock(), facts))
        await asyncio.sleep(0)
        turn._unverified.extend([Mock()] * 2)
        second = asyncio.create_task(turn._verify(Mock(), facts))
        await asyncio.sleep(0)
        looks[0].set_result(facts.loaded)
        await first
        turn._unverified.extend([Mock()] * 4)
        looks[1].set_result(facts.loaded)
        await second
        return len(turn._unverified)

    monkeypatch.setattr("evalbot.running.turn.loaded_model", look)
    assert asyncio.run(both()) == 4
