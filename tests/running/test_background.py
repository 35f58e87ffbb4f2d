from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.errors import InputError, LeaseHeldError
from evalbot.running.background import BackgroundRuns, Job, JobState
from evalbot.running.prepare import Selection
from evalbot.running.trust import confirm
from evalbot.store import leases
from evalbot.store.database import Database
from tests.fault_server import FaultServer, Step, answer, failing
from tests.waiting import wait_until

from .site import Site


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    with site.open() as opened:
        yield opened


@pytest.fixture
def manager(database: Database) -> Iterator[BackgroundRuns]:
    manager = BackgroundRuns(database)
    yield manager
    manager.close()


def job_of(manager: BackgroundRuns, run: str) -> Job:
    job = manager.job(run)
    assert job is not None
    return job


def start(manager: BackgroundRuns, site: Site, **selection: object) -> str:
    [run] = manager.start(site.config, ["s"], Selection(**selection))  # type: ignore[arg-type]
    return run


def test_a_run_is_worked_on_to_its_end(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    run = start(manager, site, repeats=2, label="by day", limit=3)
    job_of(manager, run).ended.wait()
    assert job_of(manager, run).state is JobState.FINISHED
    assert job_of(manager, run).progress.endpoints["a"].done == 6
    assert site.run(run).state is RunState.FINISHED
    assert site.run(run).label == "by day"
    assert site.statuses(run) == {S.OK: 6}
    site.check_record(run)


def test_a_run_is_stopped_cleanly_and_taken_up_again(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    server.on("p3", answer("x", before=(Step.HANG,)), answer("answer to ", "p3"))
    site.endpoint("a", server.base_url, timeout_s=60)
    run = start(manager, site)
    wait_until(lambda: "a" in job_of(manager, run).progress.endpoints)
    wait_until(lambda: job_of(manager, run).progress.endpoints["a"].done == 3)
    with pytest.raises(InputError, match="already"):
        manager.resume(site.config, run)
    manager.stop(run)
    job_of(manager, run).ended.wait()
    assert job_of(manager, run).state is JobState.STOPPED
    assert site.run(run).state is RunState.STOPPED
    assert site.statuses(run) == {S.OK: 3, S.CANCELLED: 1}
    with pytest.raises(InputError, match="not being worked on"):
        manager.stop(run)
    assert manager.resume(site.config, run) == run
    job_of(manager, run).ended.wait()
    assert site.statuses(run) == {S.OK: 4}
    site.check_record(run)


def test_what_failed_on_the_way_is_asked_again_when_wished(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    server.on("p1", failing(500), answer("answer to ", "p1"))
    site.endpoint("a", server.base_url)
    run = start(manager, site)
    job_of(manager, run).ended.wait()
    assert site.statuses(run) == {S.OK: 3, S.HTTP: 1}
    manager.resume(site.config, run)
    job_of(manager, run).ended.wait()
    assert site.statuses(run) == {S.OK: 3, S.HTTP: 1}
    manager.resume(site.config, run, retry_failed=True)
    job_of(manager, run).ended.wait()
    assert site.statuses(run) == {S.OK: 4}


def test_runs_of_one_endpoint_take_turns_and_others_do_not_wait(
    manager: BackgroundRuns, site: Site, server: FaultServer, other: FaultServer
) -> None:
    for i in range(4):
        server.on(f"p{i}", answer("answer to ", f"p{i}", before=(Step.GATE,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    site.endpoint("b", other.base_url)
    first = start(manager, site, endpoints=("a",))
    second = start(manager, site, endpoints=("a",))
    third = start(manager, site, endpoints=("b",))
    job_of(manager, third).ended.wait()
    wait_until(lambda: server.at_once == 4)
    assert job_of(manager, first).state is JobState.RUNNING
    assert job_of(manager, second).state is JobState.WAITING
    assert [job.run for job in manager.jobs()] == [first, second, third]
    server.open_gate()
    job_of(manager, second).ended.wait()
    assert site.statuses(first) == site.statuses(second) == {S.OK: 4}


def test_a_waiting_run_can_be_stopped(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    server.on("p0", answer("x", before=(Step.HANG,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    first, second = start(manager, site), start(manager, site)
    manager.stop(second)
    job_of(manager, second).ended.wait()
    assert job_of(manager, second).state is JobState.STOPPED
    assert site.answers(second) == []
    assert not job_of(manager, first).is_over


def test_closing_stops_all_runs_cleanly(
    database: Database, site: Site, server: FaultServer
) -> None:
    for i in range(4):
        server.on(f"p{i}", answer("x", before=(Step.HANG,)), answer("answer to ", f"p{i}"))
    site.endpoint("a", server.base_url, timeout_s=60)
    manager = BackgroundRuns(database)
    run = start(manager, site)
    waiting = start(manager, site)
    wait_until(lambda: server.at_once == 4)
    manager.close()
    assert site.run(run).state is RunState.STOPPED
    assert site.statuses(run) == {S.CANCELLED: 4}
    assert job_of(manager, waiting).state is JobState.STOPPED
    with pytest.raises(InputError, match="ending"):
        manager.resume(site.config, run)
    assert site.resume(run)
    site.check_record(run)


def test_who_holds_a_run_is_told(
    manager: BackgroundRuns, database: Database, site: Site, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    with database.write() as connection:
        leases.acquire(connection, prepared.run.id)
    with pytest.raises(LeaseHeldError, match="being worked on by process"):
        manager.resume(site.config, prepared.run.id)
    assert manager.jobs() == []


def test_a_run_that_fails_tells_why(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    for i in range(4):
        server.on(f"p{i}", answer("answer to ", f"p{i}", before=(Step.GATE,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    run = start(manager, site)
    wait_until(lambda: server.at_once == 4)
    site.change("UPDATE runs SET lease_token = 'of another'")
    server.open_gate()
    job_of(manager, run).ended.wait()
    assert job_of(manager, run).state is JobState.FAILED
    assert "taken over by another process" in str(job_of(manager, run).error)


def test_commands_that_nobody_confirmed_are_refused_and_nothing_is_written(
    manager: BackgroundRuns,
    site: Site,
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(site.folder / "state"))
    stop = [sys.executable, "-c", "pass"]
    site.endpoint("a", server.base_url, stop=stop)
    with pytest.raises(InputError, match="run it once from the command line"):
        start(manager, site)
    assert site.query("SELECT count(*) FROM runs") == [(0,)]
    prepared = site.new()
    with pytest.raises(InputError, match="--endpoints a"):
        manager.resume(site.config, prepared.run.id)
    confirm([tuple(stop)], site.config.folder)
    manager.resume(site.config, prepared.run.id)
    job_of(manager, prepared.run.id).ended.wait()
    assert job_of(manager, prepared.run.id).state is JobState.FINISHED


def test_all_problems_are_told_before_anything_is_written(
    manager: BackgroundRuns, site: Site, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    for suites, selection in (
        ([], Selection()),
        (["s", "none"], Selection()),
        (["s"], Selection(endpoints=("b",))),
    ):
        with pytest.raises(InputError):
            manager.start(site.config, suites, selection)
    assert site.query("SELECT count(*) FROM runs") == [(0,)]
