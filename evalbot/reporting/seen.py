"""An answer as people look into it: what was asked, what was said, and every grade of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.domain.cases import Case, Language, Message
from evalbot.domain.rubrics import Layer, ScorerName
from evalbot.domain.runs import NewGrade, RecordedAnswer, StoredGrade
from evalbot.grading.basis import Basis
from evalbot.grading.staleness import Rules
from evalbot.scoring.chrf import chrf
from evalbot.stats.rates import Graded


@dataclass(frozen=True, slots=True)
class SeenGrade:
    """A grade; replaced: the same grader has graded again since."""

    grade: NewGrade
    is_stale: bool
    is_replaced: bool


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer with what was asked and every grade it has, oldest first.

    said: a layer's word on it. chrf: a second opinion on a ratio.
    """

    case: Case
    language: Language
    conversation: tuple[Message, ...]
    recorded: RecordedAnswer
    said: Graded
    grades: tuple[SeenGrade, ...]
    chrf: float | None


def seen_answer(
    basis: Basis,
    rules: Rules,
    case: Case,
    recorded: RecordedAnswer,
    said: Graded,
    grades: Sequence[StoredGrade],
) -> SeenAnswer:
    """The answer with all of these grades of it, told which of them still count."""
    newest = {(one.grade.layer, one.grade.grader): one.id for one in grades}
    auto = [one.grade.evidence or {} for one in grades if one.grade.layer == Layer.AUTO]
    is_fuzzy = bool(auto) and auto[-1].get("scorer") == ScorerName.FUZZY
    return SeenAnswer(
        case=case,
        language=basis.suite.language_of(case),
        conversation=basis.suite.conversation(case),
        recorded=recorded,
        said=said,
        grades=tuple(
            SeenGrade(
                one.grade,
                rules.is_stale(case.key, one.grade),
                newest[one.grade.layer, one.grade.grader] != one.id,
            )
            for one in grades
        ),
        chrf=chrf(recorded.answer.text, case.references) if is_fuzzy else None,
    )
