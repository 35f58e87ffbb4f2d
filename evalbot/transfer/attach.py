"""Grades that were given elsewhere, attached to the answers of a run that is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalbot.domain.answers import Answer, Place
from evalbot.domain.runs import Run
from evalbot.domain.settings import Config
from evalbot.errors import InputError
from evalbot.formats.imports import GradeRow, read_grade_rows
from evalbot.formats.problems import Problems, nearest, shown
from evalbot.grading.basis import basis_of
from evalbot.store import runs
from evalbot.store.answers import glance_at_answers, read_answers
from evalbot.store.database import Connection, Database, after_bulk_write
from evalbot.store.grades import GradeWriter, count_grades
from evalbot.store.texts import put_texts
from evalbot.transfer.coming import Imported
from evalbot.transfer.grade_rows import GradeMaker, check_verdicts, place_of
from evalbot.transfer.rows import check_cases, read_all


def attach_grades(
    database: Database, config: Config, paths: Sequence[Path], run_id: str
) -> Imported:
    """Put grades on the counting answers of a run; those that are there already add nothing.

    Raises ProblemsError with every row that fits no answer of the run.
    """
    problems = Problems()
    rows = read_all(paths, read_grade_rows, problems)
    with database.write() as connection:
        run = runs.get_run(connection, run_id)
        basis = basis_of(run, config.folder)
        if basis.note is not None:
            raise InputError(f"{basis.note}; mend them before grades are attached")
        answers = _answers(connection, run)
        _check_places(run, rows, answers, problems)
        check_verdicts(rows, basis.rubric, problems)
        _check_texts(connection, run, rows, problems)
        problems.raise_if_any()
        maker = GradeMaker(run.id, basis.suite, basis.rubric, (row.layer for row in rows))
        put_texts(connection, "case_rule", maker.case_rules)
        put_texts(connection, "rubric_rule", maker.rubric_rules)
        before = count_grades(connection, run.id)
        GradeWriter(connection).add([(answers[place_of(row)], maker.make(row)) for row in rows])
        after_bulk_write(connection)
        new = count_grades(connection, run.id) - before
    return Imported(run.id, run.suite.name, len(rows), new)


def _answers(connection: Connection, run: Run) -> dict[Place, int]:
    return {
        Place(one.case, one.endpoint, one.repeat, one.pass_): one.id
        for one in glance_at_answers(connection, run.id)
    }


def _check_places(
    run: Run, rows: Iterable[GradeRow], answers: Mapping[Place, int], problems: Problems
) -> None:
    suite, models = run.suite.name, [endpoint.name for endpoint in run.endpoints]
    mine = [row for row in rows if row.suite == suite]
    check_cases(mine, f"run {run.id}", list(run.questions), problems)
    for row in rows:
        if row.suite != suite:
            problems.add(row.place, "suite", shown(row.suite), f"{suite}, the suite of {run.id}")
        elif row.model not in models:
            close = nearest(row.model, models)
            hint = f" (did you mean {close}?)" if close else ""
            problems.add(row.place, "model", shown(row.model), f"a model of run {run.id}{hint}")
        elif row.case in run.questions and place_of(row) not in answers:
            expected = f"a repeat that {row.model} has answered {row.case} in, in run {run.id}"
            problems.add(row.place, "repeat", str(row.repeat), expected)


def _check_texts(
    connection: Connection, run: Run, rows: Iterable[GradeRow], problems: Problems
) -> None:
    """A grade that brings another answer along was not given to the run's answer."""
    bringing = [row for row in rows if row.answer is not None]
    if not bringing:
        return
    recorded = {one.place: one.answer for _, one in read_answers(connection, run.id)}
    for row in bringing:
        answer = recorded.get(place_of(row))
        if answer is not None and not _same_text(row.answer or "", answer):
            problems.add(row.place, "answer", shown(row.answer or ""), f"the answer in {run.id}")


def _same_text(text: str, answer: Answer) -> bool:
    return text.strip() in (answer.text.strip(), answer.raw.strip())
