"""What a draw is made from: the answers of a run, and how sure the other layers are of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from evalbot.domain.reviewing import Layout
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import Run
from evalbot.grading.basis import Basis
from evalbot.grading.doubt import doubt
from evalbot.grading.effective import effective
from evalbot.grading.staleness import Rules
from evalbot.store.answers import AnswerToReview, answers_to_review
from evalbot.store.database import Connection
from evalbot.store.glances import GradeGlance, glance_at_grades
from evalbot.store.grades import judge_entropies

UNDECIDED = "needs_review"
"""The stratum of what no other layer has a verdict on."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is drawn as one: an answer, or a case with all its answers. model: of a single one."""

    key: str
    answers: tuple[AnswerToReview, ...]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """The units of a run; strata and scores by unit. judged: how many answers a judge graded.

    decided: by answer, the verdict that a lead gave under today's rules.
    """

    units: Mapping[str, Unit]
    strata: Mapping[str, str]
    scores: Mapping[str, float]
    judged: int
    decided: Mapping[int, str]


def gather(connection: Connection, run: Run, basis: Basis, layout: Layout) -> Material:
    """What can be drawn of a run, and what the automatic and judge layers say of it."""
    answers = answers_to_review(connection, run.id)
    words = _words(connection, run, basis, answers)
    entropies = judge_entropies(connection, run.id)
    units = _units(answers, layout)
    unsure = {
        one.id: doubt(basis.rubric, words[Layer.AUTO].get(one.id),
                        words[Layer.JUDGE].get(one.id), entropies.get(one.id))
        for one in answers
    }  # fmt: skip
    said = {
        one.id: words[Layer.JUDGE].get(one.id) or words[Layer.AUTO].get(one.id) for one in answers
    }
    return Material(
        units=units,
        strata={key: _stratum(basis.rubric, unit, said) for key, unit in units.items()},
        scores={key: fmean(unsure[one.id] for one in unit.answers) for key, unit in units.items()},
        judged=len(words[Layer.JUDGE]),
        decided=words[Layer.ADJUDICATED],
    )


def _words(
    connection: Connection, run: Run, basis: Basis, answers: Sequence[AnswerToReview]
) -> dict[Layer, dict[int, str]]:
    """By layer and answer, the verdicts that are not stale."""
    rules = Rules.of(basis)
    case_of = {one.id: one.case for one in answers}

    def is_stale(grade: GradeGlance) -> bool:
        return rules.is_stale(case_of[grade.answer_id], grade)

    layers = (Layer.AUTO, Layer.JUDGE, Layer.ADJUDICATED)
    grades = glance_at_grades(connection, run.id, [str(layer) for layer in layers])
    words: dict[Layer, dict[int, str]] = {layer: {} for layer in layers}
    for answer_id, together in groupby(grades, key=lambda grade: grade.answer_id):
        if answer_id not in case_of:
            continue
        found: dict[str, list[GradeGlance]] = defaultdict(list)
        for grade in together:
            found[grade.layer].append(grade)
        for layer in layers:
            if found[layer]:
                said = effective(layer, found[layer], is_stale)
                if said.verdict is not None and not said.stale:
                    words[layer][answer_id] = said.verdict
    return words


def _units(answers: Iterable[AnswerToReview], layout: Layout) -> dict[str, Unit]:
    if layout is Layout.SINGLE:
        return {str(one.id): Unit(str(one.id), (one,), one.endpoint) for one in answers}
    by_case: dict[str, list[AnswerToReview]] = defaultdict(list)
    for one in answers:
        by_case[one.case].append(one)
    return {key: Unit(key, tuple(together)) for key, together in by_case.items()}


def _stratum(rubric: Rubric, unit: Unit, said: Mapping[int, str | None]) -> str:
    """The word nearest to the mean credit of the answers; on a nominal scale the commonest."""
    words = [word for one in unit.answers if (word := said[one.id]) is not None]
    if not words:
        return UNDECIDED
    credits_ = {step.verdict: step.credit for step in rubric.scale}
    known = [credit for word in words if (credit := credits_.get(word)) is not None]
    if len(known) < len(words):
        return Counter(words).most_common(1)[0][0]
    mean = fmean(known)
    return min(rubric.verdicts, key=lambda word: abs((credits_[word] or 0.0) - mean))
