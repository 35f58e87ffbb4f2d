from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evalbot.errors import LeaseHeldError
from evalbot.store import leases
from evalbot.store.database import Database, open_database
from tests.running.site import Site
from tests.waiting import wait_until

HOLD = """
import sys, time
from evalbot.store import leases
from evalbot.store.database import open_database
with open_database(sys.argv[1]) as database, database.write() as connection:
    leases.acquire(connection, sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Site:
    site = Site(tmp_path, database_url)
    site.endpoint("a", "http://127.0.0.1:1/v1")
    return site


@pytest.fixture
def run(site: Site) -> str:
    return site.new().run.id


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    with site.open() as database:
        yield database


def acquire(database: Database, run: str) -> leases.Lease:
    with database.write() as connection:
        return leases.acquire(connection, run)


def is_held(database: Database, run: str) -> bool:
    with database.read() as connection:
        return leases.is_held(connection, run)


def holder(site: Site, run: str) -> subprocess.Popen[str]:
    """Another process that has the run."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, site.database_url, run],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_one_has_it_and_gives_it_back(database: Database, run: str) -> None:
    assert not is_held(database, run)
    lease = acquire(database, run)
    assert is_held(database, run)
    with database.write() as connection:
        leases.renew(connection, lease)
        assert leases.release(connection, lease)
    assert not is_held(database, run)
    acquire(database, run)


def test_the_same_process_cannot_take_it_twice(database: Database, run: str) -> None:
    acquire(database, run)
    with pytest.raises(LeaseHeldError, match=f"process {os.getpid()} on "):
        acquire(database, run)


def test_a_second_process_is_told_who_has_it(site: Site, database: Database, run: str) -> None:
    process = holder(site, run)
    try:
        with pytest.raises(LeaseHeldError, match=f"process {process.pid} on .* since 20"):
            acquire(database, run)
        assert is_held(database, run)
    finally:
        end(process)


@pytest.mark.parametrize("waited_for", [True, False])
def test_a_killed_process_has_it_no_more(
    waited_for: bool, site: Site, database: Database, run: str
) -> None:
    """Nor has one that nobody has waited for yet: a zombie."""
    process = holder(site, run)
    process.kill()
    if waited_for:
        process.wait()
    wait_until(lambda: not is_held(database, run))
    lease = acquire(database, run)
    end(process)
    with database.write() as connection:
        leases.renew(connection, lease)


def test_who_was_not_heard_of_for_long_has_lost_it(
    site: Site, database: Database, run: str
) -> None:
    before = acquire(database, run)
    site.let_lease_run_out()
    after = acquire(database, run)
    assert after != before
    with pytest.raises(LeaseHeldError, match="taken over by another process"):
        with database.write() as connection:
            leases.renew(connection, before)
    with database.write() as connection:
        assert not leases.release(connection, before)
    assert is_held(database, run)


def test_a_sign_of_life_keeps_it(site: Site, database: Database, run: str) -> None:
    lease = acquire(database, run)
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    site.change(f"UPDATE runs SET lease_until = '{soon}'")
    with database.write() as connection:
        leases.renew(connection, lease)
    [(until,)] = site.query("SELECT lease_until FROM runs")
    assert datetime.fromisoformat(until) > datetime.now(UTC) + timedelta(seconds=10)


@pytest.mark.parametrize("field", ["host", "space"])
def test_whether_a_process_elsewhere_lives_cannot_be_told(
    field: str, site: Site, database: Database, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine, or a container on this one that has its own process numbers."""
    process = holder(site, run)
    end(process)
    if field == "host":
        monkeypatch.setattr("evalbot.store.leases.socket.gethostname", lambda: "elsewhere")
    else:
        monkeypatch.setattr("evalbot.store.leases._process_space", lambda: "pid:[1]")
    assert is_held(database, run)
    with pytest.raises(LeaseHeldError, match="if that machine is gone, try again after"):
        acquire(database, run)


def test_a_number_given_to_a_newer_process_is_another_process(
    database: Database, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.store.leases._birth", lambda pid: f"first {pid}")
    acquire(database, run)
    assert is_held(database, run)
    monkeypatch.setattr("evalbot.store.leases._birth", lambda pid: f"second {pid}")
    assert not is_held(database, run)


def test_of_many_that_want_it_at_once_one_gets_it(site: Site, run: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def take(_: int) -> bool:
        with open_database(site.database_url) as database:
            try:
                acquire(database, run)
            except LeaseHeldError:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1
