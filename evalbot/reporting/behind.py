"""The answers behind a cell of the rate table, page by page, with all that was said of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.rubrics import Layer
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import effective, layers_behind
from evalbot.grading.staleness import Rules
from evalbot.reporting.seen import SeenAnswer, seen_answer
from evalbot.stats.rates import Graded
from evalbot.store import runs
from evalbot.store.answers import read_answers
from evalbot.store.behind import ModelAnswer, Wanted, answers_of_model
from evalbot.store.database import Connection, Database
from evalbot.store.glances import GradeGlance, glance_at_grades_of
from evalbot.store.grades import read_grades_of

PAGE = 20


class Counted(StrEnum):
    """Which answers a cell counts."""

    SCORED = "scored"
    VERDICT = "verdict"
    UNSCORED = "unscored"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the rate table; model: with its suffix where it is the self-check's row.

    verdict goes with Counted.VERDICT. tag: only cases with it.
    """

    run: str
    model: str
    counted: Counted
    verdict: str | None = None
    layer: Layer = Layer.AUTO
    judge: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Behind:
    """Some of the answers behind a cell; following: where the next ones begin, if there are any."""

    cell: Cell
    answers: tuple[SeenAnswer, ...]
    following: int | None


def answers_behind(database: Database, folder: Path, cell: Cell, start: int = 0) -> Behind:
    """The next PAGE of these answers in the suite's order; start: 0, or what was following.

    Reads no more than it needs to find them. NotFoundError for a run that is not there.
    """
    with database.read() as connection:
        run = runs.get_run(connection, cell.run)
        found = _Behind(connection, basis_of(run, folder), cell, run.id)
        with closing(found.fitting(start)) as every:
            fitting = list(islice(every, PAGE + 1))
        shown = [(answer, word) for _, answer, word in fitting[:PAGE]]
        following = fitting[PAGE][0] if len(fitting) > PAGE else None
        return Behind(cell, tuple(found.read(shown)), following)


class _Behind:
    """Finds the answers of one cell, and reads those of a page."""

    def __init__(self, connection: Connection, basis: Basis, cell: Cell, run: str) -> None:
        self._connection = connection
        self._basis = basis
        self._cell = cell
        self._run = run
        self._rules = Rules.of(basis)
        self._endpoint = cell.model.removesuffix(CHECK_SUFFIX)
        self._pass = 2 if cell.model.endswith(CHECK_SUFFIX) else 1

    def fitting(self, start: int) -> Generator[tuple[int, ModelAnswer, Graded]]:
        """What the cell counts from this place on: its place, and the layer's word on it."""
        cell, layers = self._cell, layers_behind(self._cell.layer)
        wanted = Wanted(layers, cell.verdict, cell.counted is Counted.UNSCORED)
        tagged = {
            case.key
            for case in self._basis.suite.cases
            if cell.tag is None or cell.tag in case.tags
        }
        answers = answers_of_model(
            self._connection, self._run, self._endpoint, self._pass, wanted, start
        )
        place = start
        with closing(answers):
            for page in answers:
                grades = glance_at_grades_of(self._connection, [one.id for one in page], layers)
                for answer in page:
                    word = self._word(answer, grades[answer.id])
                    if answer.case in tagged and self._counts(word):
                        yield place, answer, word
                    place += 1

    def read(self, shown: Sequence[tuple[ModelAnswer, Graded]]) -> Iterator[SeenAnswer]:
        """Texts and all grades of these."""
        if not shown:
            return
        keys = list(dict.fromkeys(answer.case for answer, _ in shown))
        texts = dict(
            read_answers(self._connection, self._run, endpoints=[self._endpoint], cases=keys)
        )
        cases = {case.key: case for case in self._basis.suite.cases}
        grades = read_grades_of(self._connection, [answer.id for answer, _ in shown])
        for answer, word in shown:
            yield seen_answer(
                self._basis, self._rules, cases[answer.case], texts[answer.id], word,
                grades[answer.id],
            )  # fmt: skip

    def _word(self, answer: ModelAnswer, grades: Sequence[GradeGlance]) -> Graded:
        cell = self._cell
        if not grades:
            is_left_out = cell.layer is Layer.JUDGE and answer.status != AnswerStatus.OK
            return Graded(None, answer.status) if is_left_out else Graded()
        return effective(
            cell.layer, grades, lambda one: self._rules.is_stale(answer.case, one), cell.judge
        )

    def _counts(self, word: Graded) -> bool:
        match self._cell.counted:
            case Counted.STALE:
                return word.stale
            case Counted.UNSCORED:
                return word.verdict is None and not word.stale
            case Counted.SCORED:
                return word.verdict is not None and not word.stale
            case Counted.VERDICT:
                return word.verdict == self._cell.verdict and not word.stale
