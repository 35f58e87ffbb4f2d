"""(c) Scoring 100,000 stored answers again: 1,000 cases with 3 references each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.site import EVALBOT, timed, write_site
from evalbot.domain.answers import Answer, AnswerStatus, Place
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import open_database

CASES, ANSWERS = 1_000, 100_000
HOURS = "一二三四五六七八九十"


def measure(folder: Path) -> Iterator[str]:
    write_site(folder, "http://127.0.0.1:1", CASES, 4)
    suite = read_suite(find_suite("bench", folder))
    run = _store(folder, suite, read_rubric(find_rubric("translation", folder)))
    first = timed([*EVALBOT, "score", run], folder)
    again = timed([*EVALBOT, "score", run], folder)
    yield f"all new: {first.seconds:.2f} s for {ANSWERS} answers, whole process (goal 6)"
    yield f"nothing changed: {again.seconds:.2f} s"


def _store(folder: Path, suite: Suite, rubric: Rubric) -> str:
    now = datetime.now(UTC)
    run = Run(
        id="bench-run",
        suite=suite,
        rubric=rubric,
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=ANSWERS // CASES,
        started_at=now,
        endpoints=(RunEndpoint("instant", {}, "f"),),
    )
    with open_database("sqlite:///evalbot.db", folder) as database, database.write() as connection:
        runs.create_run(connection, run)
        for repeat in range(1, run.repeats + 1):
            add_answers(connection, run.id, [_answer(run, case.key, repeat, now, n)
                                             for n, case in enumerate(suite.cases)])  # fmt: skip
    return run.id


def _answer(run: Run, case: str, repeat: int, at: datetime, number: int) -> RecordedAnswer:
    """Near a reference more often than equal to one, as translations are."""
    hour = HOURS[(number + repeat) % len(HOURS)]
    text = f"会议{'将' if repeat % 3 else ''}在周五上午{hour}点{'正式' if repeat % 2 else ''}开始。"
    answer = Answer(AnswerStatus.OK, text, "", text, at)
    return RecordedAnswer(Place(case, "instant", repeat), 1, answer, run.questions[case])
