"""Transactions, and failures told as sentences."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import text

from evalbot.errors import InputError, StoreError
from evalbot.store import database as module
from evalbot.store.database import Database, open_database


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "no database URL"),
        ("mysql://host/db", "is not supported"),
        ("postgresql://me:secret@host/db", "a password inside the URL is refused"),
        ("sqlite:///no/such/folder/a.db", "does not exist"),
    ],
)
def test_a_wrong_url_is_wrong_input(url: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        open_database(url)
    assert "secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is the database server running"):
        open_database(f"postgresql+psycopg://me@/db?host={tmp_path}")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("something else, and long enough to be read as a header" * 9)
    with pytest.raises(StoreError, match="this file is no database"):
        open_database("sqlite:///a.db", tmp_path)


def test_a_relative_file_lies_in_the_folder(tmp_path: Path) -> None:
    open_database("sqlite:///a.db", tmp_path).close()
    assert (tmp_path / "a.db").is_file()


def test_a_failed_write_leaves_nothing(database_url: str) -> None:
    with open_database(database_url) as opened:
        with pytest.raises(RuntimeError), opened.write() as connection:
            connection.execute(text("INSERT INTO texts VALUES ('f', 'case', '1')"))
            raise RuntimeError
        with opened.read() as connection:
            assert connection.execute(text("SELECT count(*) FROM texts")).scalar() == 0


def test_a_locked_database_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_TIMEOUT_MS", 50)
    with open_database("sqlite:///a.db", tmp_path) as opened:
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another program keeps it locked"):
                with opened.write():
                    pass
        with opened.write() as connection:
            connection.execute(text("SELECT 1"))


def test_a_full_disk_is_told_and_what_was_saved_stays(tmp_path: Path) -> None:
    with open_database("sqlite:///a.db", tmp_path) as opened:
        insert = text("INSERT INTO texts VALUES (:f, 'case', :b)")
        with opened.write() as connection:
            connection.execute(insert, {"f": "kept", "b": '"x"'})
        with pytest.raises(StoreError, match="free some disk space"), opened.write() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))
            connection.execute(insert, {"f": "lost", "b": '"' + "x" * 100_000 + '"'})
    with open_database("sqlite:///a.db", tmp_path) as opened, opened.read() as connection:
        assert list(connection.execute(text("SELECT fingerprint FROM texts")).scalars()) == ["kept"]


def test_many_writers_queue_up(database_url: str) -> None:
    with open_database(database_url) as opened:
        failures: list[BaseException] = []

        def write(name: str) -> None:
            try:
                for number in range(20):
                    with opened.write() as connection:
                        connection.execute(
                            text("INSERT INTO texts VALUES (:f, 'case', '1')"),
                            {"f": f"{name}{number}"},
                        )
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcde"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        with opened.read() as connection:
            assert connection.execute(text("SELECT count(*) FROM texts")).scalar() == 100


def test_who_waits_to_write_holds_up_nobody_who_reads(tmp_path: Path) -> None:
    go_on, begun = Event(), Event()

    def keep_locked(database: Database) -> None:
        with database.write():
            begun.set()
            go_on.wait(60)

    def write(database: Database) -> None:
        with database.write() as connection:
            connection.execute(text("SELECT 1"))

    with (
        open_database(f"sqlite:///{tmp_path}/evalbot.db") as database,
        ThreadPoolExecutor(41) as threads,
    ):
        working = [threads.submit(keep_locked, database)]
        try:
            begun.wait(60)
            working += [threads.submit(write, database) for _ in range(40)]
            with database.read() as connection:
                assert connection.execute(text("SELECT 1")).scalar() == 1
        finally:
            go_on.set()
        for one in working:
            one.result()
