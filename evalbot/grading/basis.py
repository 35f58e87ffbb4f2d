"""What a run is graded by today: the files where they still ask the same, else the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evalbot.domain.cases import Case, Suite
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run
from evalbot.errors import NotFoundError, ProblemsError
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite

FROM_RECORD = "graded_by_record"
"""Run setting: true for a run that came in whole, with the texts it was graded by."""

SUITE_FOLDER = "suite_folder"
"""Run setting: where the suite lies that was named by its path."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The cases and the rubric that decide which grades are stale.

    suite has the run's questions, in its order, with today's references. changed: keys of
    cases whose question has changed or gone in the files; those keep their recorded text.
    note: why the record was taken although there are files.
    """

    suite: Suite
    rubric: Rubric
    changed: tuple[str, ...] = ()
    note: str | None = None


def basis_of(run: Run, folder: Path) -> Basis:
    """Today's basis of a run; folder is where evalbot.yaml lies.

    A broken file must not keep anybody from reading results: the record serves instead.
    """
    if run.settings.get(FROM_RECORD):
        return Basis(run.suite, run.rubric)
    try:
        return basis_from_files(run, folder)
    except ProblemsError:
        note = (
            f"the files of suite {run.suite.name} or its rubric are broken (evalbot check tells "
            "where): read by the recorded texts, so that nothing is shown as stale"
        )
        return Basis(run.suite, run.rubric, note=note)


def basis_from_files(run: Run, folder: Path) -> Basis:
    """The same, also for a run that came in whole: what scoring it again goes by.

    Raises ProblemsError where the suite or rubric is there but broken.
    """
    try:
        today = read_suite(find_suite(run.settings.get(SUITE_FOLDER) or run.suite.name, folder))
    except NotFoundError:
        return Basis(run.suite, _rubric(run.rubric.name, folder) or run.rubric)
    files = {case.key: case for case in today.cases}
    cases, changed = [], []
    for case in run.suite.cases:
        current = files.get(case.key)
        if current is not None and _asks_the_same(run, today, current):
            cases.append(_with_language(today, current))
        else:
            cases.append(case)
            changed.append(case.key)
    name = run.rubric.name if len(changed) == len(cases) else today.rubric
    suite = replace(run.suite, cases=tuple(cases), rubric=name)
    return Basis(suite, _rubric(name, folder) or run.rubric, tuple(changed))


def _asks_the_same(run: Run, today: Suite, case: Case) -> bool:
    asked = run.questions[case.key]
    return asked == today.question_fingerprint(case) == run.suite.question_fingerprint(case)


def _with_language(today: Suite, case: Case) -> Case:
    """The case with its language written out, so that it may stand in another suite."""
    return replace(case, language=today.language_of(case))


def _rubric(name: str, folder: Path) -> Rubric | None:
    try:
        return read_rubric(find_rubric(name, folder))
    except NotFoundError:
        return None
