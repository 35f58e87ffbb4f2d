from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Connection

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RecordedAnswer, RunState
from evalbot.running.prepare import PreparedRun
from evalbot.running.progress import Progress
from evalbot.store import leases
from evalbot.store.answers import add_answers
from tests.fault_server import FaultServer, Step, answer, chunk, stream
from tests.waiting import until

from .site import Site


def cancel(site: Site, prepared: PreparedRun, when: Callable[[Progress], object]) -> None:
    """Work on a run and stop it as soon as the condition holds."""

    async def cancelled() -> None:
        with site.open() as database:
            runner = site.runner(database, prepared)
            working = asyncio.create_task(runner.execute())
            await until(lambda: when(runner.progress))
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working

    asyncio.run(cancelled())


def is_held(site: Site, run: str) -> bool:
    with site.open() as database, database.read() as connection:
        return leases.is_held(connection, run)


def test_what_is_being_asked_is_recorded_as_cancelled_and_asked_again(
    any_site: Site, server: FaultServer
) -> None:
    site = any_site
    for i in (2, 3):
        server.on(f"p{i}", stream(chunk("half"), Step.HANG), answer("answer to ", f"p{i}"))
    site.endpoint("a", server.base_url, timeout_s=60)
    prepared = site.new(repeats=2)
    run = prepared.run.id
    # Two of four slots hang; the other two go on to the end.
    cancel(site, prepared, lambda progress: progress.endpoints["a"].done == 6
           if progress.endpoints else False)  # fmt: skip
    assert site.statuses(run) == {S.OK: 6, S.CANCELLED: 2}
    halves = [one.answer for one in site.answers(run) if one.answer.status is S.CANCELLED]
    assert [one.text for one in halves] == ["half", "half"]
    assert site.verdicts(run) == {"right": 6, "cancelled": 2}
    assert site.run(run).state is RunState.STOPPED
    assert not is_held(site, run)
    assert site.resume(run)
    assert site.statuses(run) == {S.OK: 8}
    assert site.verdicts(run) == {"right": 8}
    site.check_record(run)


def test_all_lanes_end_at_once_and_waiting_turns_are_not_begun(
    site: Site, server: FaultServer, other: FaultServer
) -> None:
    for hanging in (server, other):
        for i in range(4):
            hanging.on(f"p{i}", answer("x", before=(Step.HANG,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    site.endpoint("b", other.base_url, timeout_s=60)
    with FaultServer() as third:
        site.endpoint("c", server.base_url, timeout_s=60, group="g")
        site.endpoint("d", third.base_url, timeout_s=60, group="g")
        prepared = site.new()
        cancel(site, prepared, lambda _: server.at_once == 8 and other.at_once == 4)
        assert third.chats == []
    assert site.statuses(prepared.run.id) == {S.CANCELLED: 12}


def test_a_run_can_be_cancelled_before_anything_was_asked(site: Site, server: FaultServer) -> None:
    server.health = 503  # loading for ever
    site.endpoint("a", server.base_url, timeout_s=60)
    prepared = site.new()
    cancel(site, prepared, lambda progress: progress.endpoints)
    assert site.answers(prepared.run.id) == []
    assert site.run(prepared.run.id).state is RunState.STOPPED


def test_a_run_cancelled_at_once_is_given_back(site: Site, server: FaultServer) -> None:
    """Also where the cancellation comes while the lease is being taken."""
    site.endpoint("a", server.base_url)
    prepared = site.new()

    async def cancelled(steps: int) -> None:
        with site.open() as database:
            working = asyncio.create_task(site.runner(database, prepared).execute())
            for _ in range(steps):
                await asyncio.sleep(0)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working

    for steps in range(12):
        asyncio.run(cancelled(steps))
        assert not is_held(site, prepared.run.id)
    assert site.resume(prepared.run.id)
    site.check_record(prepared.run.id)


@pytest.mark.parametrize("done", [1, 7, 30, 59])
def test_wherever_a_run_is_cancelled_resuming_completes_it(
    done: int, site: Site, server: FaultServer
) -> None:
    site.write_cases([f"p{i}" for i in range(60)])
    server.pace_s = 0.002
    if done == 59:  # the last one is on its way: it was asked, and is asked again
        server.on("p59", stream(Step.HANG), answer("answer to ", "p59"))
    site.endpoint("a", server.base_url, timeout_s=60)
    prepared = site.new()
    cancel(site, prepared, lambda progress: progress.endpoints
           and progress.endpoints["a"].done >= done)  # fmt: skip
    assert site.resume(prepared.run.id)
    assert site.verdicts(prepared.run.id) == {"right": 60}
    site.check_record(prepared.run.id)


def test_cancelling_while_the_last_answers_are_written_loses_none(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(connection: Connection, run: str, answers: Sequence[RecordedAnswer]) -> list[int]:
        time.sleep(0.1)
        return add_answers(connection, run, answers)

    monkeypatch.setattr("evalbot.running.runner.add_answers", slowly)
    site.endpoint("a", server.base_url)
    prepared = site.new()
    cancel(site, prepared, lambda progress: progress.endpoints["a"].done == 4
           if progress.endpoints else False)  # fmt: skip
    assert site.statuses(prepared.run.id) == {S.OK: 4}
    site.check_record(prepared.run.id)
