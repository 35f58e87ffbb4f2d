"""A rate with everything that must stand beside it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.rates import CaseGrades, Graded, rate_of

WEIGHTS = {"correct": 0, "acceptable": 0.5, "wrong": 1}
CORRECT, WRONG = Graded("correct", None), Graded("wrong", None)
OPEN = Graded(None, "needs_review")
STALE = Graded("correct", None, stale=True)


def cases(*grades: Graded) -> list[CaseGrades]:
    return [CaseGrades([grade]) for grade in grades]


def test_unscored_cases_are_not_wrong() -> None:
    rate = rate_of(cases(CORRECT, WRONG, OPEN, OPEN), WEIGHTS)
    assert (rate.n, rate.unscored, rate.rate) == (2, 2, 0.5)


def test_bounds_give_unscored_cases_every_verdict() -> None:
    rate = rate_of(cases(CORRECT, WRONG, OPEN, OPEN), WEIGHTS)
    assert (rate.rate_min, rate.rate_max) == (0.25, 0.75)


def test_stale_grades_are_counted_apart_and_bound_as_unscored() -> None:
    rate = rate_of(cases(WRONG, STALE), WEIGHTS)
    assert (rate.n, rate.unscored, rate.stale, rate.rate) == (1, 0, 1, 1)
    assert (rate.rate_min, rate.rate_max) == (0.5, 1)


def test_a_judge_that_answered_fifteen_of_twenty_is_counted_over_fifteen() -> None:
    refused = Graded(None, "judge_refused")
    rate = rate_of(cases(*[CORRECT] * 12, *[WRONG] * 3, *[refused] * 5), WEIGHTS)
    assert (rate.n, rate.rate) == (15, 0.2)
    assert rate.reasons == {"judge_refused": 5}


def test_nothing_scored_has_no_rate_but_bounds() -> None:
    rate = rate_of(cases(OPEN), WEIGHTS)
    assert (rate.rate, rate.low, rate.high) == (None, None, None)
    assert (rate.rate_min, rate.rate_max) == (0, 1)


def test_no_cases_at_all_have_nothing() -> None:
    rate = rate_of([], WEIGHTS)
    assert (rate.n, rate.rate, rate.rate_min, rate.rate_max) == (0, None, None, None)


def test_a_case_counts_once_with_the_mean_of_its_repeats() -> None:
    rate = rate_of([CaseGrades([CORRECT, WRONG, OPEN]), CaseGrades([WRONG] * 3)], WEIGHTS)
    assert (rate.n, rate.rate) == (2, 0.75)
    assert rate.counts == {"correct": 1, "acceptable": 0, "wrong": 4}
    assert rate.rate_min == pytest.approx((1 / 3 + 1) / 2)
    assert rate.rate_max == pytest.approx((2 / 3 + 1) / 2)


def test_a_case_with_one_scored_repeat_is_scored() -> None:
    rate = rate_of([CaseGrades([STALE, OPEN, WRONG])], WEIGHTS)
    assert (rate.n, rate.unscored, rate.stale) == (1, 0, 0)


GRADES = st.sampled_from([CORRECT, WRONG, Graded("acceptable", None), OPEN, STALE])


@given(st.lists(st.lists(GRADES, min_size=1, max_size=3), min_size=1, max_size=30))
def test_every_case_is_scored_unscored_or_stale(grades: Sequence[Sequence[Graded]]) -> None:
    rate = rate_of([CaseGrades(repeats) for repeats in grades], WEIGHTS)
    assert rate.n + rate.unscored + rate.stale == len(grades)
    assert rate.rate_min is not None
    assert rate.rate_max is not None
    assert 0 <= rate.rate_min <= rate.rate_max <= 1
    if rate.n == len(grades) and all(len(repeats) == 1 for repeats in grades):
        assert rate.rate_min == rate.rate == rate.rate_max


def repeats(*verdicts: str | None) -> CaseGrades:
    return CaseGrades([Graded(v, None) if v else OPEN for v in verdicts])


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([repeats("correct", "correct", "correct")], 0),
        ([repeats("correct", "wrong")], 1),
        # Of three pairs two differ.
        ([repeats("correct", "correct", "wrong")], 2 / 3),
        ([repeats("correct", "acceptable", "wrong")], 1),
        ([repeats("correct", "correct"), repeats("correct", "wrong")], 0.5),
        # What was not scored, and cases with one scored repeat, say nothing of it.
        ([repeats("correct", None, "wrong"), repeats("wrong", None, None)], 1),
        ([repeats("correct")], None),
        ([], None),
    ],
)
def test_how_often_two_repeats_of_a_case_differ(
    cases: list[CaseGrades], expected: float | None
) -> None:
    change = rate_of(cases, WEIGHTS).repeat_change
    assert change == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.sampled_from(sorted(WEIGHTS)), min_size=2, max_size=8))
def test_the_share_of_pairs_that_differ_is_a_share(verdicts: list[str]) -> None:
    change = rate_of([repeats(*verdicts)], WEIGHTS).repeat_change
    assert change is not None
    assert 0 <= change <= 1
    assert (change == 0) == (len(set(verdicts)) == 1)
