"""The record fails: what is told, and that nothing saved is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RecordedAnswer, RunState
from evalbot.errors import BusyError, StoreError
from evalbot.running import recorder
from evalbot.store.database import Database
from tests.fault_server import FaultServer

from .site import Site


@contextmanager
def each_connection(*pragmas: str) -> Iterator[None]:
    """Every new SQLite connection is opened with these."""

    def prepare(connection: Any, _: object) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(Engine, "connect", prepare)
    try:
        yield
    finally:
        event.remove(Engine, "connect", prepare)


def pages(site: Site) -> int:
    [(count,)] = site.query("PRAGMA page_count")
    return int(count)


def many(site: Site, server: FaultServer) -> str:
    """A run of 400 answers, made and not begun."""
    site.write_cases([f"p{i}" for i in range(400)])
    server.slots = 8
    site.endpoint("a", server.base_url)
    return site.new().run.id


def test_a_full_disk_is_told_with_what_it_cost(site: Site, server: FaultServer) -> None:
    run = many(site, server)
    prepared = site.resumed(run)
    with each_connection(f"max_page_count = {pages(site) + 40}"):
        with pytest.raises(StoreError, match="free some disk space and try again") as told:
            site.work(prepared)
    assert "answers received after the last save are not recorded" in str(told.value)
    saved = len(site.answers(run))
    assert 0 < saved < 400
    site.check_record(run)
    assert site.resume(run)
    assert site.verdicts(run) == {"right": 400}
    site.check_record(run)


def test_a_record_that_cannot_be_written_is_told_before_anything_is_asked(
    site: Site, server: FaultServer
) -> None:
    run = many(site, server)
    prepared = site.resumed(run)
    with each_connection("query_only = ON"):
        with pytest.raises(StoreError, match="check that the file and its folder can be written"):
            site.work(prepared)
    assert server.chats == []


@contextmanager
def locker(site: Site) -> Iterator[sqlite3.Connection]:
    """Another program's connection to the database."""
    path = site.folder / "evalbot.db"
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with closing(connection):
        yield connection


def before_each_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    write = recorder.Recorder._write

    def act_then_write(
        self: recorder.Recorder[RecordedAnswer], batch: Sequence[RecordedAnswer]
    ) -> None:
        act()
        write(self, batch)

    monkeypatch.setattr(recorder.Recorder, "_write", act_then_write)


def test_a_record_that_stays_locked_is_told(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.store.database.BUSY_TIMEOUT_MS", 50)
    run = many(site, server)
    prepared = site.resumed(run)
    with locker(site) as other:

        def lock() -> None:
            if len(server.chats) > 100 and not other.in_transaction:
                other.execute("BEGIN IMMEDIATE")

        before_each_write(monkeypatch, lock)
        with pytest.raises(StoreError, match="another program keeps it locked"):
            site.work(prepared)
    monkeypatch.undo()
    site.check_record(run)
    site.let_lease_run_out()
    assert site.resume(run)
    assert site.verdicts(run) == {"right": 400}


def test_a_lock_that_goes_away_in_time_is_waited_for(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = many(site, server)
    with locker(site) as other:

        def lock_for_a_while() -> None:
            other.execute("BEGIN IMMEDIATE")
            threading.Timer(0.02, other.execute, ["ROLLBACK"]).start()

        before_each_write(monkeypatch, lock_for_a_while)
        assert site.resume(run)
    assert site.verdicts(run) == {"right": 400}


class Busy(Database):
    """Is locked at every second write."""

    def __init__(self, whole: Database) -> None:
        super().__init__(whole._engine)
        self.writes = 0

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self.writes += 1
        if self.writes > 3 and self.writes % 2:
            raise BusyError("locked")
        with super().write() as connection:
            yield connection


def test_answers_are_kept_while_a_long_lock_is_waited_for(site: Site, server: FaultServer) -> None:
    run = many(site, server)
    prepared = site.resumed(run)
    with site.open() as database:
        busy = Busy(database)
        # Giving the run back is one write, and may meet the lock: that is told.
        with suppress(BusyError):
            asyncio.run(site.runner(busy, prepared).execute())
    assert busy.writes > 4
    assert site.verdicts(run) == {"right": 400}
    site.check_record(run)


class Failing(Database):
    """Fails at its n-th write transaction, before or after the statements, and ever after."""

    def __init__(self, whole: Database, n: int, *, after: bool) -> None:
        super().__init__(whole._engine)
        self._fails_at = n
        self._after = after
        self._writes = 0

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self._writes += 1
        failure = StoreError(f"write {self._writes} is out of order")
        if self._writes >= self._fails_at and not self._after:
            raise failure
        with super().write() as connection:
            yield connection
            if self._writes >= self._fails_at:
                raise failure


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_whichever_write_fails_the_run_ends_with_that_and_can_be_resumed(
    n: int, after: bool, site: Site, server: FaultServer
) -> None:
    run = many(site, server)
    prepared = site.resumed(run)
    server.pace_s = 0.002
    with site.open() as database:
        failing = Failing(database, n, after=after)
        with pytest.raises(StoreError, match=f"write {n} is out of order"):
            asyncio.run(site.runner(failing, prepared).execute())
    site.check_record(run)
    before = site.texts(run)
    server.pace_s = 0.0
    site.let_lease_run_out()  # it could not be given back either
    assert site.resume(run)
    assert before.items() <= site.texts(run).items()
    assert site.verdicts(run) == {"right": 400}
    assert site.run(run).state is RunState.FINISHED
    site.check_record(run)


def test_a_failing_record_ends_the_asking(site: Site, server: FaultServer) -> None:
    run = many(site, server)
    server.pace_s = 0.01
    with site.open() as database:
        failing = Failing(database, 5, after=False)
        with pytest.raises(StoreError):
            asyncio.run(site.runner(failing, site.resumed(run)).execute())
    assert len(server.chats) < 200


def test_many_that_wait_to_be_written_hold_up_the_asking(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory stays flat, however slow the disk."""
    monkeypatch.setattr("evalbot.running.recorder.WAITING_ROOM", 5)
    monkeypatch.setattr("evalbot.running.recorder.LARGEST_BATCH", 3)
    waiting: list[int] = []
    write = recorder.Recorder._write

    def noted(self: recorder.Recorder[RecordedAnswer], batch: Sequence[RecordedAnswer]) -> None:
        waiting.append(self._waiting.qsize() + len(batch))
        write(self, batch)

    monkeypatch.setattr(recorder.Recorder, "_write", noted)
    run = many(site, server)
    assert site.resume(run)
    assert site.statuses(run) == {S.OK: 400}
    assert max(waiting) <= 5 + 3
    site.check_record(run)
