"""What a layer says of one answer, of all the grades it has there."""

from datetime import UTC, datetime, timedelta

import pytest

from evalbot.domain.rubrics import Layer
from evalbot.grading.effective import effective
from evalbot.stats.rates import Graded
from evalbot.store.glances import GradeGlance

START = datetime(2026, 11, 30, tzinfo=UTC)
OLD_RULE, RULE = "old", "now"


def grade(
    number: int,
    grader: str,
    verdict: str | None,
    *,
    layer: Layer = Layer.HUMAN,
    reason: str | None = None,
    rule: str = RULE,
) -> GradeGlance:
    at = START + timedelta(minutes=number)
    return GradeGlance(number, 1, str(layer), grader, verdict, reason, rule, "case", at)


def is_stale(one: GradeGlance) -> bool:
    return one.rubric_fingerprint != RULE


def human(*grades: GradeGlance) -> Graded:
    return effective(Layer.HUMAN, grades, is_stale)


def test_the_newest_automatic_grade_counts() -> None:
    grades = [
        grade(1, "auto", "wrong", layer=Layer.AUTO),
        grade(2, "auto", "correct", layer=Layer.AUTO),
    ]
    assert effective(Layer.AUTO, grades, is_stale) == Graded("correct", None)


def test_two_reviewers_who_differ_are_a_tie() -> None:
    assert human(grade(1, "ann", "correct"), grade(2, "bob", "wrong")) == Graded(None, "tie")


def test_most_reviewers_decide() -> None:
    said = [grade(1, "ann", "wrong"), grade(2, "bob", "correct"), grade(3, "eve", "wrong")]
    assert human(*said) == Graded("wrong", None)


def test_half_of_the_reviewers_is_no_majority() -> None:
    said = [
        grade(1, "ann", "wrong"),
        grade(2, "bob", "wrong"),
        grade(3, "eve", "correct"),
        grade(4, "kim", "acceptable"),
    ]
    assert human(*said) == Graded(None, "tie")


def test_a_reviewer_counts_once_with_the_newest_grade() -> None:
    said = [grade(1, "ann", "wrong"), grade(2, "bob", "correct"), grade(3, "ann", "correct")]
    assert human(*said) == Graded("correct", None)


def test_time_decides_which_grade_is_newest_not_the_order_of_coming_in() -> None:
    later = grade(5, "ann", "correct")
    imported_afterwards = grade(1, "ann", "wrong")._replace(id=9)
    assert human(later, imported_afterwards) == Graded("correct", None)


def test_who_cannot_judge_does_not_vote() -> None:
    said = [grade(1, "ann", None, reason="cannot_judge"), grade(2, "bob", "wrong")]
    assert human(*said) == Graded("wrong", None)


def test_nobody_who_can_judge_leaves_the_reason() -> None:
    assert human(grade(1, "ann", None, reason="cannot_judge")) == Graded(None, "cannot_judge")


def test_a_stale_grade_gives_way_to_a_fresh_one() -> None:
    said = [grade(1, "ann", "wrong", rule=OLD_RULE), grade(2, "bob", "correct")]
    assert human(*said) == Graded("correct", None)


def test_only_stale_grades_are_stale() -> None:
    assert human(grade(1, "ann", "wrong", rule=OLD_RULE)) == Graded("wrong", None, stale=True)


def test_no_grade_is_not_graded() -> None:
    assert human() == Graded(None, "not_graded")


@pytest.mark.parametrize(
    ("judge", "expected"),
    [(None, Graded("correct", None)), ("strong", Graded("wrong", None))],
)
def test_votes_of_a_judge_do_not_count_beside_its_majority(
    judge: str | None, expected: Graded
) -> None:
    grades = [
        grade(1, "strong#1", "wrong", layer=Layer.JUDGE),
        grade(2, "strong#2", "wrong", layer=Layer.JUDGE),
        grade(3, "strong", "wrong", layer=Layer.JUDGE),
        grade(4, "other", "correct", layer=Layer.JUDGE),
        grade(5, "third", "correct", layer=Layer.JUDGE),
    ]
    assert effective(Layer.JUDGE, grades, is_stale, judge) == expected


def test_a_panels_own_majority_goes_over_its_members() -> None:
    grades = [
        grade(1, "a", "wrong", layer=Layer.JUDGE),
        grade(2, "panel", "correct", layer=Layer.JUDGE),
    ]
    assert effective(Layer.JUDGE, grades, is_stale) == Graded("correct", None)


def test_the_lead_decides_over_the_reviewers() -> None:
    grades = [
        grade(1, "ann", "wrong"),
        grade(2, "bob", "wrong"),
        grade(3, "lead", "correct", layer=Layer.ADJUDICATED),
    ]
    assert effective(Layer.ADJUDICATED, grades, is_stale) == Graded("correct", None)


def test_without_a_decision_reviewers_have_to_agree() -> None:
    agreed = [grade(1, "ann", "wrong"), grade(2, "bob", "wrong")]
    assert effective(Layer.ADJUDICATED, agreed, is_stale) == Graded("wrong", None)
    split = [*agreed, grade(3, "eve", "correct")]
    assert effective(Layer.ADJUDICATED, split, is_stale) == Graded(None, "tie")


def test_a_lead_who_cannot_judge_has_decided_so() -> None:
    grades = [
        grade(1, "ann", "wrong"),
        grade(2, "lead", None, layer=Layer.ADJUDICATED, reason="cannot_judge"),
    ]
    assert effective(Layer.ADJUDICATED, grades, is_stale) == Graded(None, "cannot_judge")
