"""Answers in the record."""

from pathlib import Path

from evalbot.domain.answers import Timing
from evalbot.store.answers import mean_total_ms
from evalbot.store.database import open_database
from tests.building import record, said, small_run, write_site


def test_time_is_told_by_the_same_suite_and_else_by_any(tmp_path: Path, database_url: str) -> None:
    site = write_site(tmp_path / "site")
    times = [Timing(total_ms=100), Timing(total_ms=300)]
    answers = [
        said(case, "a", "x", timing=timing)
        for case, timing in zip(("door", "light"), times, strict=True)
    ]
    with open_database(database_url) as database:
        record(database, small_run(site, "a", "b"), answers)
        with database.read() as connection:
            assert mean_total_ms(connection, "a", "small") == 200
            assert mean_total_ms(connection, "a", "another") == 200
            assert mean_total_ms(connection, "b", "small") is None
