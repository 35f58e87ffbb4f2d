"""Scoring stored answers again, after references, bands or the scorer changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.runs import NewGrade, Run
from evalbot.grading.automatic import AutoGrader
from evalbot.grading.basis import FROM_RECORD, Basis, basis_from_files
from evalbot.store import runs
from evalbot.store.answers import answers_to_score
from evalbot.store.database import Database
from evalbot.store.grades import AutoVerdict, GradeWriter, newest_auto_grades
from evalbot.store.texts import put_texts


@dataclass(frozen=True, slots=True)
class Rescored:
    """What scoring again did. changed: answers whose verdict or reason is another now."""

    answers: int
    written: int
    changed: int
    run: Run
    basis: Basis


def rescore(
    database: Database,
    run_id: str,
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
) -> Rescored:
    """Score every counting answer of a run by today's suite and rubric; no model is asked.

    Grades that would say the same by the same texts are not written again. progress is
    told the number of answers done so far.
    """
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
    basis = basis_from_files(run, folder)
    grader = AutoGrader(basis.suite, basis.rubric)
    answers = written = changed = 0
    at = datetime.now(UTC)
    # One transaction: either the whole run is scored by the new texts, or none of it.
    with database.write() as connection:
        runs.set_grading(connection, run.id, basis.suite, basis.rubric)
        if run.settings.get(FROM_RECORD):
            runs.set_setting(connection, run, FROM_RECORD, False)
        put_texts(connection, "rubric_rule", [grader.rubric_text])
        put_texts(connection, "case_rule", grader.case_texts)
        writer = GradeWriter(connection)
        for page in answers_to_score(connection, run.id):
            before = newest_auto_grades(connection, page[0].id, page[-1].id)
            new: list[tuple[int, NewGrade]] = []
            for answer in page:
                grade = grader.grade(answer.place.case, answer.status, answer.text, at)
                old = before.get(answer.id)
                if old is not None and old == _essence(grade):
                    continue
                new.append((answer.id, grade))
                changed += old is None or old[:2] != _essence(grade)[:2]
            writer.add(new)
            answers += len(page)
            written += len(new)
            progress(answers)
    return Rescored(answers, written, changed, run, basis)


def _essence(grade: NewGrade) -> AutoVerdict:
    return AutoVerdict(
        grade.verdict,
        grade.unscored_reason,
        grade.rubric_fingerprint,
        grade.case_fingerprint,
        None if grade.evidence is None else dict(grade.evidence),
    )
