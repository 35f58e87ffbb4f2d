"""The answers behind a cell of the rate table, page by page, with all that was said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case, Language, Message
from evalbot.domain.rubrics import Layer, ScorerName
from evalbot.domain.runs import NewGrade, RecordedAnswer, StoredGrade
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import effective, layers_behind
from evalbot.grading.staleness import Rules
from evalbot.scoring.chrf import chrf
from evalbot.stats.rates import Graded
from evalbot.store import runs
from evalbot.store.answers import read_answers
from evalbot.store.behind import ModelAnswer, answers_of_model, grades_of_model
from evalbot.store.database import Connection, Database
from evalbot.store.grades import GradeGlance, read_grades_of

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
class SeenGrade:
    """A grade; replaced: the same grader has graded again since."""

    grade: NewGrade
    is_stale: bool
    is_replaced: bool


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer with what was asked and every grade it has, oldest first.

    said: the layer's word on it. chrf: a second opinion on a ratio.
    """

    case: Case
    language: Language
    conversation: tuple[Message, ...]
    recorded: RecordedAnswer
    said: Graded
    grades: tuple[SeenGrade, ...]
    chrf: float | None


@dataclass(frozen=True, slots=True)
class Behind:
    """One page of the answers behind a cell; page starts at 1; total: over all pages."""

    cell: Cell
    total: int
    page: int
    answers: tuple[SeenAnswer, ...]

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // PAGE))


def answers_behind(database: Database, folder: Path, cell: Cell, page: int = 1) -> Behind:
    """The page of these answers, in the suite's order; a page too far is the last one.

    Raises NotFoundError for a run that is not there.
    """
    with database.read() as connection:
        run = runs.get_run(connection, cell.run)
        basis = basis_of(run, folder)
        found = _Behind(connection, basis, cell, run.id)
        fitting = found.fitting()
        page = max(1, min(page, -(-len(fitting) // PAGE)))
        shown = fitting[(page - 1) * PAGE : page * PAGE]
        return Behind(cell, len(fitting), page, tuple(found.read(shown)))


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

    def fitting(self) -> list[tuple[ModelAnswer, Graded]]:
        """All that the cell counts, with the layer's word, in the suite's order."""
        cell, layers = self._cell, layers_behind(self._cell.layer)
        where = (self._connection, self._run, self._endpoint, self._pass)
        order = {
            case.key: position
            for position, case in enumerate(self._basis.suite.cases)
            if cell.tag is None or cell.tag in case.tags
        }
        verdict = cell.verdict if cell.counted is Counted.VERDICT else None
        grades = grades_of_model(*where, layers)
        found = [
            (answer, word)
            for answer in answers_of_model(*where, verdict, layers)
            if answer.case in order
            if self._counts(word := self._word(answer, grades.get(answer.id, [])))
        ]
        return sorted(found, key=lambda one: (order[one[0].case], one[0].repeat))

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
            yield self._seen(cases[answer.case], texts[answer.id], word, grades[answer.id])

    def _seen(
        self, case: Case, recorded: RecordedAnswer, word: Graded, grades: Sequence[StoredGrade]
    ) -> SeenAnswer:
        newest = {(one.grade.layer, one.grade.grader): one.id for one in grades}
        auto = [one.grade.evidence or {} for one in grades if one.grade.layer == Layer.AUTO]
        is_fuzzy = bool(auto) and auto[-1].get("scorer") == ScorerName.FUZZY
        return SeenAnswer(
            case=case,
            language=self._basis.suite.language_of(case),
            conversation=self._basis.suite.conversation(case),
            recorded=recorded,
            said=word,
            grades=tuple(
                SeenGrade(
                    one.grade,
                    self._rules.is_stale(case.key, one.grade),
                    newest[one.grade.layer, one.grade.grader] != one.id,
                )
                for one in grades
            ),
            chrf=chrf(recorded.answer.text, case.references) if is_fuzzy else None,
        )

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
