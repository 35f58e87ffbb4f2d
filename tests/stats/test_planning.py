"""Foretold widths: close to what comes out, and honest about what is assumed."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.planned import compare
from evalbot.stats.correction import Label, corrected_rate
from evalbot.stats.expected import Judged, expect, expected_by_verdict
from evalbot.stats.planning import neyman_shares, planned_width, stratum_plans

POLICIES = ("random", "stratified", "uncertain")


def judged(
    verdict: str, weight: float, answers: int, *humans: float, doubt: float = 0.0
) -> list[Judged]:
    """So many answers with this verdict, the first ones reviewed."""
    people = [*humans, *[None] * (answers - len(humans))]
    return [Judged(verdict, weight, doubt, human) for human in people]


@pytest.mark.parametrize(
    ("policy", "judge", "rate", "budget"),
    [
        ("random", "near-perfect", 0.9, 30),
        ("random", "random", 0.5, 100),
        ("stratified", "lenient", 0.8, 30),
        ("stratified", "random", 0.5, 100),
        ("uncertain", "random", 0.8, 100),
    ],
)
def test_widths_come_out_as_foretold(policy: str, judge: str, rate: float, budget: int) -> None:
    found = compare(policy, judge, rate, budget, 20, np.random.default_rng(3))
    assert found.foretold == pytest.approx(found.found, rel=0.15)


def misread(random: Random, documents: int, size: int, reviewed: int) -> list[Judged]:
    """A judge that misreads a quarter of the documents, in all their answers; some are reviewed."""
    answers = []
    for document in range(documents):
        is_misread = random.random() < 0.25
        for _ in range(size):
            right = random.random() < 0.5
            said = right or is_misread
            answers.append(Judged("ab"[said], float(said), 0.0, float(right), f"d{document}"))
    random.shuffle(answers)
    return [
        one if n < reviewed else one._replace(human=None, doubt=one.human or 0.0)
        for n, one in enumerate(answers)
    ]


@pytest.mark.parametrize("size", [1, 6])
def test_answers_of_one_document_are_foretold_as_they_come_out(size: int) -> None:
    random = Random(5)
    foretold, found = [], []
    for _ in range(30):
        hidden = misread(random, 360 // size, size, 60)
        answers = [one._replace(doubt=0.0) for one in hidden]
        foretold.append(planned_width(answers, "random", 60).width or 0.0)
        # What is not reviewed keeps its truth in its doubt.
        labels = [
            Label(one.weight, one.doubt if one.human is None else one.human, 1 / 3, None,
                  one.cluster)
            for one in hidden[:120]
        ]  # fmt: skip
        then = corrected_rate([one.weight for one in hidden], labels, "random")
        assert then.low is not None
        assert then.high is not None
        found.append(then.high - then.low)
    assert sum(foretold) == pytest.approx(sum(found), rel=0.15)


def test_without_any_review_it_says_what_it_assumes() -> None:
    found = planned_width(judged("good", 1, 200) + judged("bad", 0, 100), "random", 50)
    assert found.width is not None
    assert 0.1 < found.width < 0.4
    assert found.reason is not None
    assert "one answer in five" in found.reason
    reviewed = judged("good", 1, 200, 1, 1, 0) + judged("bad", 0, 100)
    assert planned_width(reviewed, "random", 50).reason is None


@pytest.mark.parametrize("policy", POLICIES)
def test_few_labels_would_bring_no_interval(policy: str) -> None:
    found = planned_width(judged("good", 1, 100, 1, 1, 1), policy, 6)
    assert (found.width, found.reason) == (None, "too few labels")


def test_a_good_judge_leaves_weighted_reviews_without_an_interval() -> None:
    found = planned_width(judged("good", 1, 400, *[1] * 40), "uncertain", 40)
    assert (found.width, found.reason) == (None, "too few disagreements")


@pytest.mark.parametrize("policy", POLICIES)
def test_reviewing_all_leaves_nothing_open(policy: str) -> None:
    found = planned_width(judged("good", 1, 50, 1, 0.5), policy, 500)
    assert (found.budget, found.width) == (48, 0.0)


@pytest.mark.parametrize("policy", ["random", "stratified"])
def test_more_reviews_make_it_narrower(policy: str) -> None:
    answers = judged("good", 1, 300, *[1] * 20, *[0] * 5) + judged("bad", 0, 100, *[0] * 8)
    widths = [planned_width(answers, policy, budget).width or 0.0 for budget in (10, 60, 200)]
    assert widths[0] > widths[1] > widths[2] > 0


def test_the_same_question_has_the_same_answer() -> None:
    answers = judged("good", 1, 300, *[1] * 20, *[0] * 5)
    assert planned_width(answers, "random", 40) == planned_width(answers, "random", 40)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError):
        planned_width(judged("good", 1, 50), "all", 10)


def test_nothing_counts_as_free_of_errors_because_nobody_has_looked() -> None:
    likely = expected_by_verdict(judged("good", 1, 50, *[0] * 10) + judged("bad", 0, 50))
    assert likely["good"][-1.0] > 0.8
    assert likely["bad"][1.0] > 0.8


def test_what_was_seen_outweighs_what_was_seen_elsewhere() -> None:
    likely = expected_by_verdict(judged("good", 1, 50, *[0] * 10) + judged("bad", 0, 50, *[0] * 18))
    assert likely["bad"][1.0] == pytest.approx(2 / 20 * (10 + 0.4) / 30)


def test_differences_go_where_people_can_grade() -> None:
    likely = expected_by_verdict(judged("so-so", 0.5, 50) + judged("good", 1, 50, *[0.5] * 4))
    assert likely["so-so"][0.5] == likely["so-so"][-0.5]
    assert set(likely["so-so"]) == {-0.5, 0.0, 0.5}
    assert max(likely["good"]) == 0


def test_doubted_answers_are_learnt_apart() -> None:
    sure = judged("good", 1, 50, *[1] * 10)
    doubted = judged("good", 1, 50, *[0] * 10, doubt=0.9)
    expected = expect(sure + doubted)
    assert expected.of(sure[0])[-1.0] < 0.2 < 0.8 < expected.of(doubted[0])[-1.0]


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=12),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=12),
)
def test_what_is_likely_sums_to_1(good: list[float], bad: list[float]) -> None:
    answers = judged("good", 1, 20, *good) + judged("bad", 0.2, 20, *bad, doubt=1)
    expected = expect(answers)
    for one in answers:
        assert sum(expected.of(one).values()) == pytest.approx(1)
        assert all(share >= 0 for share in expected.of(one).values())
        assert all(-1e-9 <= one.weight + difference <= 1 + 1e-9 for difference in expected.of(one))


def test_reviews_go_where_errors_and_answers_are() -> None:
    answers = judged("good", 1, 300, *([1] * 12 + [0] * 8)) + judged("bad", 0, 300, *[0] * 20)
    plans = stratum_plans(answers, 40)
    assert [plan.stratum for plan in plans] == ["good", "bad"]
    assert plans[0].share > 30
    assert sum(plan.share for plan in plans) == 40
    assert (plans[0].answers, plans[0].reviewed) == (300, 20)
    assert plans[0].error_spread > plans[1].error_spread


def test_neyman_shares_of_the_oracle() -> None:
    """N = 20, 30, 50 and spreads as statistics.md has them: 4.0, 7.6 and 8.4 of 20."""
    spreads = {"a": 0.25, "b": 0.1**0.5, "c": (0.4 / 9) ** 0.5}
    found = neyman_shares({"a": 20, "b": 30, "c": 50}, spreads, dict.fromkeys("abc", 0), 20)
    assert found == {"a": 4, "b": 8, "c": 8}


def test_shares_end_where_a_stratum_ends() -> None:
    answers = judged("good", 1, 6, 0) + judged("bad", 0, 100, *[0] * 50)
    shares = {plan.stratum: plan.share for plan in stratum_plans(answers, 80)}
    assert shares["good"] <= 5
    assert sum(shares.values()) == 55
