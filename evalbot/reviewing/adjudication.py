"""Adjudication: where graders disagree, worst first, and what a lead decides about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.cases import grading_text
from evalbot.domain.people import User
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run, StoredGrade
from evalbot.errors import InputError, NotFoundError
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import effective
from evalbot.grading.staleness import Rules
from evalbot.reviewing.moments import now_after
from evalbot.store import runs
from evalbot.store.answers import answer_of
from evalbot.store.database import Database
from evalbot.store.glances import GradeGlance, glance_at_reviewed
from evalbot.store.grades import GradeWriter, grades_of_answer
from evalbot.store.texts import put_texts

LONGEST_REASON = 10_000


@dataclass(frozen=True, slots=True)
class Dispute:
    """An answer on which graders are not of one mind.

    people: each reviewer's verdict, or why there is none; distance: of the two verdicts that are
    furthest apart, in credit (1 between different labels of a nominal scale).
    """

    answer_id: int
    case: str
    people: tuple[tuple[str, str], ...]
    judge: str | None
    decided: str | None
    distance: float


@dataclass(frozen=True, slots=True)
class Docket:
    """The disputes of a run, worst first; open: those that no lead has decided."""

    run: Run
    rubric: Rubric
    disputes: tuple[Dispute, ...]

    @property
    def open(self) -> tuple[Dispute, ...]:
        """Those that nobody has decided yet."""
        return tuple(one for one in self.disputes if one.decided is None)


@dataclass(frozen=True, slots=True)
class DisputedAnswer:
    """All that a lead looks at to decide. last_grade: the newest grade that is shown."""

    run: Run
    basis: Basis
    recorded: RecordedAnswer
    grades: tuple[StoredGrade, ...]
    stale: frozenset[int]

    @property
    def last_grade(self) -> int:
        """What `decide` is told, so that a grade given meanwhile is noticed."""
        return max((one.id for one in self.grades), default=0)


def disputes_of(database: Database, run_id: str, folder: Path) -> Docket:
    """Where the people of a run disagree with one another, or with its judges."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        basis = basis_of(run, folder)
        rules = Rules.of(basis)
        found: list[Dispute] = []
        for case, together in glance_at_reviewed(connection, run.id):
            dispute = _dispute(case, together, basis.rubric, rules)
            if dispute is not None:
                found.append(dispute)
    found.sort(key=lambda one: (one.decided is not None, -one.distance, one.case, one.answer_id))
    return Docket(run, basis.rubric, tuple(found))


def disputed_answer(
    database: Database, run_id: str, answer_id: int, folder: Path
) -> DisputedAnswer:
    """An answer with every grade it was ever given; NotFoundError where it is not of this run."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        recorded = answer_of(connection, run.id, answer_id)
        if recorded is None:
            raise NotFoundError(f"run {run.id} has no such answer")
        basis = basis_of(run, folder)
        rules = Rules.of(basis)
        grades = tuple(grades_of_answer(connection, answer_id))
    stale = {one.id for one in grades if rules.is_stale(recorded.place.case, one.grade)}
    return DisputedAnswer(run, basis, recorded, grades, frozenset(stale))


def decide(
    database: Database,
    by: User,
    run_id: str,
    answer_id: int,
    verdict: str | None,
    reason: str,
    last_grade: int,
    folder: Path,
) -> None:
    """Write a lead's decision with its reason; verdict None: it cannot be judged.

    last_grade: the newest grade the lead saw. InputError where another was given meanwhile, so
    that of two leads who decide at once the second is told.
    """
    if not reason.strip():
        raise InputError("a decision needs a reason: others will want to know why")
    if len(reason) > LONGEST_REASON:
        raise InputError(f"a reason may have at most {LONGEST_REASON} characters")
    with database.write() as connection:
        run = runs.get_run(connection, run_id)
        recorded = answer_of(connection, run.id, answer_id, lock=True)
        if recorded is None:
            raise NotFoundError(f"run {run.id} has no such answer")
        earlier = grades_of_answer(connection, answer_id)
        _refuse_overtaken(earlier, last_grade)
        basis = basis_of(run, folder)
        if verdict is not None and verdict not in basis.rubric.verdicts:
            raise InputError(f"{verdict!r} is not on this rubric's scale")
        case = next(one for one in basis.suite.cases if one.key == recorded.place.case)
        rule = basis.rubric.text_for(Layer.ADJUDICATED)
        [rubric_rule] = put_texts(connection, "rubric_rule", [rule])
        [case_rule] = put_texts(connection, "case_rule", [grading_text(basis.suite, case)])
        grade = NewGrade(
            layer=str(Layer.ADJUDICATED),
            grader=by.name,
            verdict=verdict,
            unscored_reason=None if verdict is not None else "cannot_judge",
            rubric=basis.rubric.name,
            rubric_version=basis.rubric.version,
            rubric_fingerprint=rubric_rule,
            case_fingerprint=case_rule,
            at=now_after(one.grade.at for one in earlier if one.grade.layer == Layer.ADJUDICATED),
            rationale=reason.strip(),
            seen=("all layers",),
        )
        GradeWriter(connection).add([(answer_id, grade)])


def _refuse_overtaken(grades: Iterable[StoredGrade], last_grade: int) -> None:
    newer = [one for one in grades if one.id > last_grade]
    if newer:
        last = newer[-1].grade
        raise InputError(
            f"{last.grader} has given this answer a grade meanwhile ({last.layer}: "
            f"{last.verdict or last.unscored_reason}); look at it again before you decide"
        )


def _dispute(
    case: str, grades: Sequence[GradeGlance], rubric: Rubric, rules: Rules
) -> Dispute | None:
    answer_id = grades[0].answer_id

    def is_stale(grade: GradeGlance) -> bool:
        return rules.is_stale(case, grade)

    newest: dict[str, GradeGlance] = {}
    for grade in grades:
        if grade.layer == Layer.HUMAN and not is_stale(grade):
            newest[grade.grader] = grade
    people = {
        name: grade.verdict or grade.unscored_reason or ""
        for name, grade in newest.items()
        if grade.unscored_reason != "not_graded"
    }
    if not people:
        return None
    by_layer: dict[str, list[GradeGlance]] = defaultdict(list)
    for grade in grades:
        by_layer[grade.layer].append(grade)
    judge = None
    if by_layer[Layer.JUDGE]:
        said = effective(Layer.JUDGE, by_layer[Layer.JUDGE], is_stale)
        judge = None if said.stale else said.verdict
    words = {*people.values(), *([judge] if judge is not None else [])}
    if len(words) < 2 and "cannot_judge" not in words:
        return None
    decided = [one for one in by_layer[Layer.ADJUDICATED] if not is_stale(one)]
    return Dispute(
        answer_id=answer_id,
        case=case,
        people=tuple(sorted(people.items())),
        judge=judge,
        decided=(decided[-1].verdict or decided[-1].unscored_reason) if decided else None,
        distance=_distance(words, rubric),
    )


def _distance(words: Iterable[str], rubric: Rubric) -> float:
    known = {step.verdict: step.credit for step in rubric.scale}
    said = [word for word in words if word in known]
    credits_ = [credit for word in said if (credit := known[word]) is not None]
    if len(credits_) < len(said):
        return float(len(said) > 1)
    return max(credits_) - min(credits_) if credits_ else 0.0
