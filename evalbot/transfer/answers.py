"""Answers that were collected elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalbot.domain.answers import Place, Timing
from evalbot.domain.runs import RecordedAnswer, Run
from evalbot.domain.settings import Config
from evalbot.fingerprint import fingerprint
from evalbot.formats.imports import AnswerRow, read_answer_rows
from evalbot.formats.problems import Problems, shown
from evalbot.grading.automatic import AutoGrader
from evalbot.store.database import Database
from evalbot.transfer.coming import UNTIMED, Coming, Imported, received, write_coming
from evalbot.transfer.rows import (
    Material,
    by_suite,
    content_of,
    new_run,
    read_all,
    read_material,
)


def import_answers(
    database: Database, config: Config, paths: Sequence[Path], label: str | None = None
) -> list[Imported]:
    """Bring in answers, one run a suite, and score them.

    Rows that came in before, all of a suite's together, bring nothing: their run is named.
    Raises ProblemsError with everything that is wrong in any of the files.
    """
    problems = Problems()
    rows = read_all(paths, read_answer_rows, problems)
    _check_once(rows, problems)
    suites = by_suite(rows)
    material = read_material(suites, config.folder, problems)
    problems.raise_if_any()
    # Scored before the database is locked: transactions are short.
    coming = [_prepare(material[name], of_suite, label) for name, of_suite in suites.items()]
    with database.write() as connection:
        return [write_coming(connection, one) for one in coming]


def _prepare(material: Material, rows: Sequence[AnswerRow], label: str | None) -> Coming:
    key = fingerprint(["answers", material.suite.name, sorted(content_of(row) for row in rows)])
    run = new_run(material, rows, "answers", label, key)
    grader = AutoGrader(run.suite, run.rubric)
    answers = [_recorded(run, row) for row in rows]
    return Coming(
        key=key,
        rows=len(rows),
        run=run,
        answers=answers,
        grades=[
            (at, grader.grade(one.place.case, one.answer.status, one.answer.text))
            for at, one in enumerate(answers)
        ],
        case_rules=grader.case_texts,
        rubric_rules=[grader.rubric_text],
    )


def _recorded(run: Run, row: AnswerRow) -> RecordedAnswer:
    timed = row.ttft_ms is not None or row.decode_tps is not None
    timing = Timing(ttft_ms=row.ttft_ms, decode_tps=row.decode_tps, source="client")
    return RecordedAnswer(
        place=Place(row.case, row.model, row.repeat),
        attempt=1,
        answer=received(
            row.answer,
            reasoning=row.reasoning or "",
            finish_reason=row.finish_reason,
            timing=timing if timed else UNTIMED,
        ),
        question_fingerprint=run.questions[row.case],
    )


def _check_once(rows: Sequence[AnswerRow], problems: Problems) -> None:
    """One file has each answer once; this sees that all files together do."""
    first: dict[tuple[str, str, str, int], str] = {}
    for row in rows:
        there = first.setdefault((row.suite, row.case, row.model, row.repeat), row.place)
        if there != row.place:
            found = f"{shown(row.case)}, which {there} answers for this model and repeat"
            problems.add(row.place, "case", found, "one answer a case, model and repeat")
