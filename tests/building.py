"""Small suites on disk and runs in a database, for tests that begin after the asking."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evalbot.domain.answers import Answer, AnswerStatus, Place, Timing
from evalbot.domain.cases import grading_text
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.grading.automatic import AutoGrader
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Database
from evalbot.store.grades import GradeWriter
from evalbot.store.texts import put_texts

START = datetime(2026, 11, 30, 12, tzinfo=UTC)

RUBRIC = """\
name: small
version: "1"
title: Small
scale:
  - {verdict: correct, credit: 1, means: right}
  - {verdict: acceptable, credit: 0.5, means: tolerable}
  - {verdict: wrong, credit: 0, means: not right}
rate: {name: error_rate, title: Error rate, direction: lower, weights: {correct: 0, acceptable: 0.5, wrong: 1}}
auto: {scorer: fuzzy, folding: [nfkc, casefold, punctuation], bands: [{correct: 100}]}
judge: {instructions: Grade it.}
"""  # noqa: E501

SUITE = """\
name: small
title: Small
task: translation
rubric: small
language: {source: ja, target: zh-Hans}
"""

CASES: tuple[Mapping[str, object], ...] = (
    {"key": "door", "prompt": "ドアを閉めて", "references": ["请关门"], "traps": ["请开门"],
     "tags": ["house"]},
    {"key": "light", "prompt": "電気を消して", "references": ["请关灯"], "tags": ["house"]},
    {"key": "rain", "prompt": "雨だ", "references": ["下雨了"], "tags": ["weather"]},
)  # fmt: skip


def write_site(
    folder: Path,
    cases: Sequence[Mapping[str, object]] = CASES,
    suite: str = SUITE,
    rubric: str = RUBRIC,
) -> Path:
    """The folder of an evaluation: config, one suite `small`, one rubric `small`."""
    (folder / "datasets/small").mkdir(parents=True, exist_ok=True)
    (folder / "rubrics").mkdir(exist_ok=True)
    (folder / "evalbot.yaml").write_text("endpoints: []\n", encoding="utf-8")
    (folder / "datasets/small/suite.yaml").write_text(suite, encoding="utf-8")
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    (folder / "datasets/small/cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")
    return folder


def small_run(folder: Path, *models: str, repeats: int = 1, run_id: str = "small-1") -> Run:
    """A finished run over the files of a site, not yet in any database."""
    suite = read_suite(find_suite("small", folder))
    return Run(
        id=run_id,
        suite=suite,
        rubric=read_rubric(find_rubric(suite.rubric, folder)),
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=repeats,
        started_at=START,
        finished_at=START + timedelta(minutes=5),
        endpoints=tuple(RunEndpoint(model, {}, fingerprint(model)) for model in models),
        version="0.1.0",
    )


def said(
    case: str,
    model: str,
    text: str,
    *,
    repeat: int = 1,
    status: AnswerStatus = AnswerStatus.OK,
    timing: Timing | None = None,
) -> RecordedAnswer:
    """An answer with its place, first attempt."""
    answer = Answer(status, text, "", text, START, timing=timing or Timing())
    return RecordedAnswer(Place(case, model, repeat), 1, answer, "question")


def record(database: Database, run: Run, answers: Sequence[RecordedAnswer]) -> list[int]:
    """Write a run, its answers and their automatic grades; the answers' row ids."""
    grader = AutoGrader(run.suite, run.rubric)
    fitting = [replace(a, question_fingerprint=run.questions[a.place.case]) for a in answers]
    with database.write() as connection:
        runs.create_run(connection, run)
        put_texts(connection, "rubric_rule", [grader.rubric_text])
        put_texts(connection, "case_rule", grader.case_texts)
        ids = add_answers(connection, run.id, fitting)
        grades = [grader.grade(a.place.case, a.answer.status, a.answer.text) for a in fitting]
        GradeWriter(connection).add(list(zip(ids, grades, strict=True)))
    return ids


def graded(
    run: Run, layer: Layer, grader: str, case: str, verdict: str | None, reason: str | None = None
) -> NewGrade:
    """A grade of today's texts."""
    found = next(one for one in run.suite.cases if one.key == case)
    return NewGrade(
        layer=str(layer),
        grader=grader,
        verdict=verdict,
        unscored_reason=reason,
        rubric=run.rubric.name,
        rubric_version=run.rubric.version,
        rubric_fingerprint=run.rubric.fingerprint_for(layer),
        case_fingerprint=run.suite.grading_fingerprint(found),
        at=START,
    )


def add_grades(database: Database, run: Run, grades: Sequence[tuple[int, NewGrade]]) -> None:
    """Write grades with the texts they rest on."""
    with database.write() as connection:
        put_texts(connection, "rubric_rule", [run.rubric.text_for(layer) for layer in Layer])
        put_texts(
            connection, "case_rule", [grading_text(run.suite, case) for case in run.suite.cases]
        )
        GradeWriter(connection).add(list(grades))
