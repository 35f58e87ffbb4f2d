"""Many people grading while a run is written: nothing fails, nothing is lost (cases.md, H7)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from evalbot.domain.runs import RunState
from evalbot.reviewing.desk import Desk
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import open_database
from tests.building import said
from tests.people import add_people
from tests.reviewing.site import ReviewSite, review_site, user

PEOPLE = ("p1", "p2", "p3", "p4")
EACH = 30


@pytest.fixture
def busy(database_url: str, tmp_path: Path) -> Iterator[ReviewSite]:
    """A run of forty cases, all for each of four people."""
    with open_database(database_url) as database:
        site = review_site(database, tmp_path, 40)
        add_people(database, **dict.fromkeys(PEOPLE, "reviewer"))
        yield site


def test_four_people_grade_while_a_run_is_written(busy: ReviewSite) -> None:
    busy.campaign(*PEOPLE, overlap=4)
    failures: list[BaseException] = []
    written: list[int] = []
    done = threading.Event()

    def grade(name: str) -> None:
        desk = Desk(busy.database)
        for _ in range(EACH):
            item = desk.view(user(name)).item
            assert item is not None
            answer = next(one for one in item.answers if not one.is_graded)
            busy.grade(name, answer.id, "correct")

    def write() -> None:
        attempt = 1
        while not done.is_set():
            attempt += 1
            answers = [
                said(case.key, "zebra", f"again {attempt}") for case in busy.run.suite.cases[:5]
            ]
            with busy.database.write() as connection:
                late = [replace(one, attempt=attempt) for one in answers]
                written.extend(add_answers(connection, busy.run.id, late))
                runs.set_state(connection, busy.run.id, RunState.RUNNING)

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        return run

    writer = threading.Thread(target=guarded(write))
    graders = [threading.Thread(target=guarded(partial(grade, name))) for name in PEOPLE]
    for thread in (writer, *graders):
        thread.start()
    for thread in graders:
        thread.join()
    done.set()
    writer.join()
    assert failures == []
    with busy.database.read() as connection:
        count = connection.execute(
            text("SELECT count(*) FROM grades WHERE layer = 'human'")
        ).scalar_one()
    assert count == EACH * len(PEOPLE)
    assert written
