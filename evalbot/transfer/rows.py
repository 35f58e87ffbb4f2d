"""What importing answers and grades have in common: files to rows, rows to new runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

from evalbot import __version__
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.errors import ProblemsError
from evalbot.fingerprint import fingerprint
from evalbot.formats.catalogue import find_rubric, list_suites
from evalbot.formats.imports import AnswerRow, GradeRow
from evalbot.formats.problems import Problems, nearest, shown
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.running.prepare import new_run_id

MOST_REPEATS = 1_000
"""A slip in a repeat's cell must not make a run of millions."""


Row: TypeAlias = AnswerRow | GradeRow
AnyRow = TypeVar("AnyRow", AnswerRow, GradeRow)


@dataclass(frozen=True, slots=True)
class Material:
    """A suite with its rubric, as the files say today."""

    suite: Suite
    rubric: Rubric


def read_all(
    paths: Sequence[Path], read: Callable[[Path, Problems], list[AnyRow]], problems: Problems
) -> list[AnyRow]:
    """The rows that are well of all files; what is wrong with the others is noted."""
    return [row for path in dict.fromkeys(paths) for row in read(path, problems)]


def by_suite(rows: Iterable[AnyRow]) -> dict[str, list[AnyRow]]:
    """Rows by suite, both in order of appearance."""
    found: dict[str, list[AnyRow]] = {}
    for row in rows:
        found.setdefault(row.suite, []).append(row)
    return found


def read_material(
    suites: Mapping[str, Sequence[Row]], folder: Path, problems: Problems
) -> dict[str, Material]:
    """The suites that rows name; unknown ones, their unknown cases and wild repeats are noted."""
    known = list_suites(folder)
    found = {}
    for name, rows in suites.items():
        if name not in known:
            close = nearest(name, known)
            hint = f" (did you mean {close}?)" if close else ""
            expected = f"a suite in {folder / 'datasets'} or a shipped one{hint}"
            problems.add(rows[0].place, "suite", shown(name), expected)
            continue
        try:
            suite = read_suite(known[name])
            check_cases(rows, f"suite {name}", [case.key for case in suite.cases], problems)
            check_repeats(rows, problems)
            found[name] = Material(suite, read_rubric(find_rubric(suite.rubric, folder)))
        except ProblemsError as error:
            problems.extend(error.problems)
    return found


def check_cases(rows: Iterable[Row], owner: str, keys: Sequence[str], problems: Problems) -> None:
    """Note each row whose case is not one of its owner's: a suite's, or a run's."""
    known = frozenset(keys)
    for row in rows:
        if row.case not in known:
            close = nearest(row.case, keys)
            hint = f" (did you mean {close}?)" if close else ""
            problems.add(row.place, "case", shown(row.case), f"a case of {owner}{hint}")


def check_repeats(rows: Iterable[Row], problems: Problems) -> None:
    """Note each row with more repeats than anybody makes."""
    for row in rows:
        if row.repeat > MOST_REPEATS:
            expected = f"a whole number from 1 to {MOST_REPEATS}"
            problems.add(row.place, "repeat", str(row.repeat), expected)


def content_of(row: Row) -> str:
    """What a row says, whatever file and line it stands in."""
    names = [name for name in row.__dataclass_fields__ if name != "place"]
    said = {name: getattr(row, name) for name in names}
    return fingerprint({name: str(value) for name, value in said.items() if value is not None})


def new_run(
    material: Material, rows: Sequence[Row], kind: str, label: str | None, import_key: str
) -> Run:
    """A run of the cases and models that the rows name, not yet in the record."""
    named = {row.case for row in rows}
    cases = tuple(case for case in material.suite.cases if case.key in named)
    suite = replace(material.suite, cases=cases)
    now = datetime.now(UTC)
    return Run(
        id=new_run_id(suite.name, now),
        suite=suite,
        rubric=material.rubric,
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.IMPORTED,
        repeats=max(row.repeat for row in rows),
        started_at=now,
        finished_at=now,
        label=label,
        endpoints=tuple(_endpoint(name) for name in dict.fromkeys(row.model for row in rows)),
        version=__version__,
        import_key=import_key,
        settings={"imported": kind},
    )


def _endpoint(name: str) -> RunEndpoint:
    settings = {"name": name, "imported": True}
    return RunEndpoint(name, settings, fingerprint(settings))
