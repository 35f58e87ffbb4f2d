"""The answers behind an audit: those that people and a judge gave two verdicts, and single ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.auditing.gathering import AuditedAnswer, gather
from evalbot.auditing.judged import judged_by
from evalbot.domain.runs import Run
from evalbot.errors import NotFoundError
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.staleness import Rules
from evalbot.reporting.seen import SeenAnswer, seen_answer
from evalbot.stats.rates import Graded
from evalbot.store import runs
from evalbot.store.answers import answer_of
from evalbot.store.database import Connection, Database
from evalbot.store.grades import read_grades_of

PAGE = 20
GONE = "there is no such answer in run {run}; load the page again"


@dataclass(frozen=True, slots=True)
class VerdictCell:
    """Answers of these runs, pooled, that people gave the one verdict and the judge the other."""

    runs: tuple[str, ...]
    judge: str
    human: str
    said: str


@dataclass(frozen=True, slots=True)
class BehindCell:
    """Some of the n answers of a cell, each with its run; following: where the next ones begin."""

    cell: VerdictCell
    answers: tuple[tuple[str, SeenAnswer], ...]
    n: int
    following: int | None


def answers_behind_cell(
    database: Database, folder: Path, cell: VerdictCell, start: int = 0
) -> BehindCell:
    """The next PAGE of them by run, case and model; start: 0, or what was following.

    The same answers that the audit of these runs counts there.
    """
    with database.read() as connection:
        gathered = gather(connection, cell.runs, folder)
        order = _order(gathered.runs)
        fitting = [
            one.answer
            for one in judged_by(cell.judge, gathered.answers)
            if (one.human, one.judge) == (cell.human, cell.said)
        ]
        fitting.sort(key=lambda one: order[one.run, one.row.case, one.row.endpoint])
        reader = _Reader(connection, {run.id: basis_of(run, folder) for run in gathered.runs})
        shown = fitting[start : start + PAGE]
        end = start + len(shown)
        return BehindCell(
            cell=cell,
            answers=tuple((one.run, reader.read(one, cell.judge)) for one in shown),
            n=len(fitting),
            following=end if end < len(fitting) else None,
        )


def answer_behind(database: Database, folder: Path, run: str, answer: int) -> SeenAnswer:
    """One answer of a run; NotFoundError where there is none."""
    with database.read() as connection:
        found = runs.get_run(connection, run)
        reader = _Reader(connection, {found.id: basis_of(found, folder)})
        return reader.read_row(found.id, answer, Graded())


class _Reader:
    """Reads whole answers with their grades."""

    def __init__(self, connection: Connection, bases: Mapping[str, Basis]) -> None:
        self._connection = connection
        self._bases = bases
        self._rules = {run: Rules.of(basis) for run, basis in bases.items()}
        self._cases = {
            run: {case.key: case for case in basis.suite.cases} for run, basis in bases.items()
        }

    def read(self, answer: AuditedAnswer, judge: str) -> SeenAnswer:
        return self.read_row(answer.run, answer.row.id, answer.judges[judge])

    def read_row(self, run: str, answer: int, said: Graded) -> SeenAnswer:
        recorded = answer_of(self._connection, run, answer)
        if recorded is None:
            raise NotFoundError(GONE.format(run=run))
        grades = read_grades_of(self._connection, [answer])[answer]
        case = self._cases[run][recorded.place.case]
        return seen_answer(self._bases[run], self._rules[run], case, recorded, said, grades)


def _order(pooled: Sequence[Run]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    return {
        (run.id, case.key, model.name): (place, number, which)
        for place, run in enumerate(pooled)
        for number, case in enumerate(run.suite.cases)
        for which, model in enumerate(run.endpoints)
    }
