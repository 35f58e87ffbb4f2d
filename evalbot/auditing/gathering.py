"""Answers with every layer's word on them, from which comparisons and audits are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from evalbot.domain.cases import Case
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import Run
from evalbot.errors import InputError
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import PANEL, VOTE_MARK, effective, fresh_of, majority_of
from evalbot.grading.staleness import Rules
from evalbot.stats.rates import Graded
from evalbot.store import runs
from evalbot.store.audited import AuditRow, families_of_judges, grades_to_audit, rows_to_audit
from evalbot.store.database import Connection
from evalbot.store.glances import GradeGlance

NOT_GRADED = Graded()


class AuditedAnswer(NamedTuple):
    """One answer and what was said of it.

    judges: by judge, and the panel; people: each reviewer's verdict that is not stale; human:
    their majority; decided: what a lead decided, None where none did; adjudicated: that, else
    what all reviewers agree on. cluster: answers that are not independent of one another share it.
    """

    run: str
    row: AuditRow
    cluster: str
    auto: Graded
    judges: Mapping[str, Graded]
    people: Mapping[str, str]
    human: Graded
    decided: Graded | None
    adjudicated: Graded

    @property
    def truth(self) -> Graded:
        """What a judge is measured by: the lead's decision, else the reviewers' majority."""
        return self.human if self.decided is None else self.decided

    def word(self, layer: Layer, judge: str) -> Graded:
        """The layer's word; judge: whose of the judge layer."""
        if layer is Layer.AUTO:
            return self.auto
        if layer is Layer.JUDGE:
            return self.judges.get(judge, NOT_GRADED)
        return self.human if layer is Layer.HUMAN else self.adjudicated


@dataclass(frozen=True, slots=True)
class Gathered:
    """Runs of one suite, pooled. bases: by run; judges: by name, their family."""

    runs: tuple[Run, ...]
    bases: Mapping[str, Basis]
    answers: tuple[AuditedAnswer, ...]
    judges: Mapping[str, str | None]

    @property
    def basis(self) -> Basis:
        """Of the first run: the rubric is that of all."""
        return self.bases[self.runs[0].id]

    @property
    def cases(self) -> tuple[str, ...]:
        """The keys of all cases, in the order of the runs, which need not have asked the same."""
        suites = (basis.suite for basis in self.bases.values())
        return tuple(dict.fromkeys(case.key for suite in suites for case in suite.cases))

    @property
    def models(self) -> tuple[str, ...]:
        """All models, in the order of the runs."""
        return tuple(dict.fromkeys(one.name for run in self.runs for one in run.endpoints))

    @property
    def credits(self) -> Mapping[str, float | None]:
        """By verdict, its credit."""
        return {step.verdict: step.credit for step in self.basis.rubric.scale}

    def with_people(self, called: Mapping[str, str]) -> Gathered:
        """The same with reviewers called otherwise; who is not in it keeps the name."""
        renamed = (
            answer._replace(
                people={called.get(who, who): what for who, what in answer.people.items()}
            )
            if answer.people
            else answer
            for answer in self.answers
        )
        return replace(self, answers=tuple(renamed))


def cluster_of(case: Case) -> str:
    """What a case is not independent of: its document, or itself alone."""
    return f"d:{case.cluster}" if case.cluster else f"c:{case.key}"


def gather(connection: Connection, run_ids: Sequence[str], folder: Path) -> Gathered:
    """The answers of these runs; InputError where they are not of one suite and rubric."""
    found = [runs.get_run(connection, name) for name in run_ids]
    return gather_runs(connection, {run.id: (run, basis_of(run, folder)) for run in found})


def gather_runs(connection: Connection, parts: Mapping[str, tuple[Run, Basis]]) -> Gathered:
    """The same of runs that were read already, by their ids."""
    if not parts:
        raise InputError("name a run")
    (first_run, first), *others = parts.values()
    rules = rules_of(first.rubric)
    for run, basis in others:
        if run.suite.name != first_run.suite.name:
            raise InputError(
                f"run {run.id} is of suite {run.suite.name}, run {first_run.id} of "
                f"{first_run.suite.name}; runs of one suite can be pooled"
            )
        if rules_of(basis.rubric) != rules:
            raise InputError(
                f"run {run.id} is graded by another rubric text than run {first_run.id}; "
                "audit them apart"
            )
    answers: list[AuditedAnswer] = []
    judges: dict[str, str | None] = {}
    for run, basis in parts.values():
        judges.update(families_of_judges(connection, run.id))
        answers += _in_order(run, _answers(connection, run, basis))
    pooled = tuple(run for run, _ in parts.values())
    order = judges_in_order(judges)
    bases = {run.id: basis for run, basis in parts.values()}
    return Gathered(pooled, bases, tuple(answers), {name: judges.get(name) for name in order})


def rules_of(rubric: Rubric) -> tuple[object, ...]:
    """What makes numbers of two runs the same kind of number: how verdicts come, and count."""
    return (*(rubric.fingerprint_for(layer) for layer in Layer), rubric.rate)


def _in_order(run: Run, answers: Iterable[AuditedAnswer]) -> list[AuditedAnswer]:
    """By case, model and repeat, so that sums come out the same wherever the run is kept."""
    cases = {case.key: place for place, case in enumerate(run.suite.cases)}
    models = {one.name: place for place, one in enumerate(run.endpoints)}
    return sorted(
        answers, key=lambda one: (cases[one.row.case], models[one.row.endpoint], one.row.repeat)
    )


def judges_in_order(judges: Iterable[str]) -> list[str]:
    """Those that are audited, by name: no single votes; of several the panel last.

    Judges that graded apart, or were imported, are a panel whose majority nobody wrote down.
    """
    found = set(judges)
    named = sorted(name for name in found if name != PANEL and VOTE_MARK not in name)
    return [*named, *([PANEL] if len(named) > 1 or (PANEL in found and not named) else [])]


def _answers(connection: Connection, run: Run, basis: Basis) -> Iterator[AuditedAnswer]:
    rules = Rules.of(basis)
    clusters = {case.key: cluster_of(case) for case in basis.suite.cases}
    grades = groupby(grades_to_audit(connection, run.id), key=lambda grade: grade.answer_id)
    waiting = next(grades, None)
    for row in rows_to_audit(connection, run.id):
        own: list[GradeGlance] = []
        while waiting is not None and waiting[0] <= row.id:
            if waiting[0] == row.id:
                own = list(waiting[1])
            waiting = next(grades, None)

        def is_stale(grade: GradeGlance, case: str = row.case) -> bool:
            return rules.is_stale(case, grade)

        yield _answer(run.id, row, clusters[row.case], own, is_stale)


def _answer(
    run: str,
    row: AuditRow,
    cluster: str,
    grades: Sequence[GradeGlance],
    is_stale: Callable[[GradeGlance], bool],
) -> AuditedAnswer:
    layers: dict[str, list[GradeGlance]] = defaultdict(list)
    for grade in grades:
        layers[grade.layer].append(grade)
    judged, people = layers[Layer.JUDGE], layers[Layer.HUMAN]
    names = {grade.grader for grade in judged if VOTE_MARK not in grade.grader}
    if names:
        names.add(PANEL)
    fresh, otherwise = fresh_of(people, is_stale)
    decided = layers[Layer.ADJUDICATED]
    return AuditedAnswer(
        run=run,
        row=row,
        cluster=cluster,
        auto=effective(Layer.AUTO, layers[Layer.AUTO], is_stale),
        judges={name: effective(Layer.JUDGE, judged, is_stale, name) for name in names},
        people={one.grader: one.verdict for one in fresh if one.verdict is not None},
        human=majority_of(fresh, otherwise) if people else NOT_GRADED,
        decided=effective(Layer.ADJUDICATED, decided, is_stale) if decided else None,
        adjudicated=effective(Layer.ADJUDICATED, [*people, *decided], is_stale),
    )
