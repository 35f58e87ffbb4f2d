from __future__ import annotations

import asyncio

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.errors import LeaseHeldError
from evalbot.store import leases
from tests.fault_server import FaultServer, Step, answer
from tests.waiting import until

from .site import Site


def test_a_run_being_worked_on_is_neither_taken_nor_changed(
    any_site: Site, server: FaultServer
) -> None:
    site = any_site
    site.endpoint("a", server.base_url)
    site.endpoint("b", server.base_url)
    run = site.new(endpoints=("a",)).run.id
    prepared = site.resumed(run)
    with site.open() as database, database.write() as connection:
        leases.acquire(connection, run)
    with pytest.raises(LeaseHeldError, match="being worked on by process"):
        site.work(prepared)
    with pytest.raises(LeaseHeldError, match="being worked on by process"):
        site.resumed(run, repeats=5, add_endpoints=("b",))
    after = site.run(run)
    assert (after.repeats, len(after.endpoints)) == (1, 1)
    assert server.chats == []


def test_who_lost_the_run_stops_and_leaves_it_to_the_new_holder(
    any_site: Site, server: FaultServer
) -> None:
    """A process that slept longer than its lease wakes up."""
    site = any_site
    server.on("p3", answer("late", before=(Step.GATE,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    prepared = site.new()
    run = prepared.run.id

    async def overtaken() -> None:
        with site.open() as database:
            working = asyncio.create_task(site.runner(database, prepared).execute())
            await until(lambda: len(site.answers(run)) == 3)
            site.let_lease_run_out()
            with database.write() as connection:
                leases.acquire(connection, run)
            server.open_gate()
            with pytest.raises(LeaseHeldError, match="taken over by another process"):
                await working
            with database.read() as connection:
                assert leases.is_held(connection, run)

    asyncio.run(overtaken())
    assert site.statuses(run) == {S.OK: 3}
    assert site.run(run).state is RunState.RUNNING  # the new holder's


def test_the_heartbeat_keeps_a_silent_run(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.running.recorder.HEARTBEAT_S", 0.02)
    for i in range(4):
        server.on(f"p{i}", answer("late", before=(Step.GATE,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    prepared = site.new()

    def lease_until() -> str:
        [(moment,)] = site.query("SELECT lease_until FROM runs")
        return str(moment)

    async def silent() -> bool:
        with site.open() as database:
            working = asyncio.create_task(site.runner(database, prepared).execute())
            await until(lambda: server.at_once == 4)
            before = lease_until()
            await until(lambda: lease_until() > before)
            server.open_gate()
            return await working

    assert asyncio.run(silent())
