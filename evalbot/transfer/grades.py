"""Grades that were given elsewhere: as runs of their own, or on the answers of a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.answers import Answer, AnswerStatus, Place
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import RecordedAnswer, Run
from evalbot.domain.settings import Config
from evalbot.fingerprint import fingerprint
from evalbot.formats.imports import GradeRow, read_grade_rows
from evalbot.formats.problems import Problems
from evalbot.grading.automatic import AutoGrader
from evalbot.store.database import Database
from evalbot.transfer.coming import Coming, Imported, received, write_coming
from evalbot.transfer.grade_rows import GradeMaker, check_verdicts, place_of, texts_by_place
from evalbot.transfer.rows import (
    Material,
    by_suite,
    content_of,
    new_run,
    read_all,
    read_material,
)


def import_grades(
    database: Database, config: Config, paths: Sequence[Path], label: str | None = None
) -> list[Imported]:
    """Bring in grades, with their answers where given, as one new run a suite.

    Rows that came in before, all of a suite's together, bring nothing: their run is named.
    Raises ProblemsError with everything that is wrong in any of the files.
    """
    problems = Problems()
    suites = by_suite(read_all(paths, read_grade_rows, problems))
    material = read_material(suites, config.folder, problems)
    texts = {name: texts_by_place(rows, problems) for name, rows in suites.items()}
    for name, found in material.items():
        check_verdicts(suites[name], found.rubric, problems)
    problems.raise_if_any()
    coming = [_prepare(material[name], suites[name], texts[name], label) for name in suites]
    with database.write() as connection:
        return [write_coming(connection, one) for one in coming]


def _prepare(
    material: Material,
    rows: Sequence[GradeRow],
    texts: dict[Place, str | None],
    label: str | None,
) -> Coming:
    key = fingerprint(["grades", material.suite.name, _contents(rows)])
    run = new_run(material, rows, "grades", label, key)
    answers = [_recorded(run, place, text) for place, text in texts.items()]
    position = {one.place: at for at, one in enumerate(answers)}
    maker = GradeMaker(run.id, run.suite, run.rubric, [Layer.AUTO, *(row.layer for row in rows)])
    scorer = AutoGrader(run.suite, run.rubric)
    graded = {place_of(row) for row in rows if row.layer is Layer.AUTO}
    scored = [
        (at, scorer.grade(one.place.case, one.answer.status, one.answer.text))
        for at, one in enumerate(answers)
        if one.answer.status is not AnswerStatus.NOT_RECORDED and one.place not in graded
    ]
    return Coming(
        key=key,
        rows=len(rows),
        run=run,
        answers=answers,
        grades=[*scored, *((position[place_of(row)], maker.make(row)) for row in rows)],
        case_rules=maker.case_rules,
        rubric_rules=maker.rubric_rules,
    )


def _recorded(run: Run, place: Place, text: str | None) -> RecordedAnswer:
    absent = Answer(AnswerStatus.NOT_RECORDED, "", "", "", started_at=datetime.now(UTC))
    return RecordedAnswer(
        place=place,
        attempt=1,
        answer=absent if text is None else received(text),
        question_fingerprint=run.questions[place.case],
    )


def _contents(rows: Sequence[GradeRow]) -> list[str]:
    """What the rows say, in an order that only tells which of a grader's words came later."""
    graders = sorted(rows, key=lambda row: (*place_of(row), row.layer, row.grader))
    return [content_of(row) for row in graders]
