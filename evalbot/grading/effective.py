"""What a layer says of one answer, of all the grades it has there (contract.md, Layers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from evalbot.domain.rubrics import Layer
from evalbot.stats.rates import Graded
from evalbot.stats.votes import majority
from evalbot.store.glances import GradeGlance

PANEL = "panel"
VOTE_MARK = "#"
"""A vote's grader is `strong#1`; its majority's is `strong`."""

IsStale = Callable[[GradeGlance], bool]


def layers_behind(layer: Layer) -> tuple[str, ...]:
    """The stored layers that decide what a layer says."""
    if layer is Layer.ADJUDICATED:
        return (str(Layer.HUMAN), str(Layer.ADJUDICATED))
    return (str(layer),)


def effective(
    layer: Layer, grades: Sequence[GradeGlance], is_stale: IsStale, judge: str | None = None
) -> Graded:
    """The layer's word on one answer. grades are all of that answer, oldest first.

    judge: whose of the judge layer; None, or the panel: the majority, written down or not.
    """
    if layer is Layer.AUTO:
        return _single(grades[-1:], is_stale)
    if layer is Layer.JUDGE:
        return _majority(_judges(grades, is_stale, judge), is_stale)
    people = [grade for grade in grades if grade.layer == Layer.HUMAN]
    if layer is Layer.HUMAN:
        return _majority(people, is_stale)
    decided = [grade for grade in grades if grade.layer == Layer.ADJUDICATED]
    if decided:
        return _single(newest_per_grader(decided)[-1:], is_stale)
    return _unanimous(people, is_stale)


def _judges(
    grades: Sequence[GradeGlance], is_stale: IsStale, judge: str | None
) -> list[GradeGlance]:
    if judge not in (None, PANEL):
        return [grade for grade in grades if grade.grader == judge]
    # A stale panel says nothing of judges that have graded again since.
    panel = [grade for grade in grades if grade.grader == PANEL and not is_stale(grade)]
    return panel or [
        grade for grade in grades if grade.grader != PANEL and VOTE_MARK not in grade.grader
    ]


def _single(grades: Sequence[GradeGlance], is_stale: IsStale) -> Graded:
    if not grades:
        return Graded()
    grade = grades[-1]
    return Graded(grade.verdict, grade.unscored_reason, is_stale(grade))


def newest_per_grader(grades: Iterable[GradeGlance]) -> list[GradeGlance]:
    """The last word of each grader, in the order they were said."""
    newest: dict[str, GradeGlance] = {}
    found = list(grades)
    if len(found) < 2:
        return found
    for grade in sorted(found, key=lambda one: (one.at, one.id)):
        newest.pop(grade.grader, None)
        newest[grade.grader] = grade
    return list(newest.values())


def fresh_of(grades: Sequence[GradeGlance], is_stale: IsStale) -> tuple[list[GradeGlance], Graded]:
    """Each grader's newest grade that is not stale, and what to say where there is none."""
    newest = newest_per_grader(grades)
    fresh = [grade for grade in newest if not is_stale(grade)]
    if fresh or not newest:
        return fresh, Graded()
    return fresh, Graded(newest[-1].verdict, newest[-1].unscored_reason, stale=True)


def majority_of(fresh: Sequence[GradeGlance], otherwise: Graded) -> Graded:
    """The verdict of more than half of those who gave one; `tie` where there is none."""
    verdicts = [grade.verdict for grade in fresh if grade.verdict is not None]
    if not verdicts:
        return Graded(None, fresh[-1].unscored_reason) if fresh else otherwise
    verdict = majority(verdicts)
    return Graded(None, "tie") if verdict is None else Graded(verdict, None)


def _majority(grades: Sequence[GradeGlance], is_stale: IsStale) -> Graded:
    if len(grades) < 2:
        return _single(grades, is_stale)
    return majority_of(*fresh_of(grades, is_stale))


def _unanimous(grades: Sequence[GradeGlance], is_stale: IsStale) -> Graded:
    fresh, otherwise = fresh_of(grades, is_stale)
    said = {grade.verdict for grade in fresh}
    if not fresh:
        return otherwise
    if len(said) == 1:
        return Graded(fresh[-1].verdict, fresh[-1].unscored_reason)
    return Graded(None, "tie")
