"""Leanings of a judge: worked numbers, full least squares as a second way, and what is unknown."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalbot.stats.bias import BiasFit, Effect, Position, fit_bias, leniency, position
from evalbot.stats.paired import sign_flip
from tests.stats.judged import DIFFERENCES, FIFTY, HUMAN, JUDGE, LENGTHS, SAME, VERDICTS

LN2 = math.log(2)


def test_leniency_of_twelve_answers() -> None:
    found = leniency(HUMAN, JUDGE)
    assert found is not None
    assert (found.n, found.mean, found.over, found.under, found.p) == (12, 0.125, 4, 1, 0.375)
    assert (found.low, found.high) == pytest.approx((-0.0724670409, 0.3224670409), abs=6e-11)
    assert found.mean_absolute == pytest.approx(0.2083333333, abs=6e-11)
    assert np.std(DIFFERENCES, ddof=1) == pytest.approx(0.3107907803, abs=6e-11)
    flipped = sign_flip(DIFFERENCES)
    assert flipped is not None
    assert flipped.p == 0.375


def test_leniency_of_fifty_answers() -> None:
    cells = [((i / 2, j / 2), count) for i, row in enumerate(FIFTY) for j, count in enumerate(row)]
    human = [h for (h, _), count in cells for _ in range(count)]
    judge = [j for (_, j), count in cells for _ in range(count)]
    found = leniency(human, judge)
    assert found is not None
    assert (found.mean, found.mean_absolute) == pytest.approx((0.06, 0.14))
    assert (found.low, found.high) == pytest.approx((-0.0193510924, 0.1393510924), abs=6e-11)
    assert (found.over, found.under) == (9, 4)
    assert found.p == pytest.approx(0.2668457031, abs=6e-11)
    assert np.std(np.subtract(judge, human), ddof=1) == pytest.approx(0.2792117184, abs=6e-11)


def test_leniency_of_clusters_has_as_many_degrees_of_freedom_as_clusters() -> None:
    found = leniency([0] * 6, [1, 1, 1, 0.5, 0, 0.5], list("aabbcc"))
    assert found is not None
    assert found.mean == pytest.approx(2 / 3)
    reach = stats.t.ppf(0.975, 2) * 0.2204792759
    assert found.high is not None
    assert found.high - found.mean == pytest.approx(reach, abs=1e-9)
    assert leniency(HUMAN, JUDGE, [f"c{i}" for i in range(12)]) == leniency(HUMAN, JUDGE)


@pytest.mark.parametrize(
    ("human", "judge", "clusters"),
    [
        ([1.0], [0.5], None),
        ([1.0, 0.5], [0.5, 0.0], None),
        ([0.3, 0.4], [0.4, 0.5], None),
        ([1.0, 0.5], [0.5, 0.5], ["a", "a"]),
    ],
)
def test_leniency_without_spread_has_no_interval(
    human: list[float], judge: list[float], clusters: list[str] | None
) -> None:
    found = leniency(human, judge, clusters)
    assert found is not None
    assert (found.low, found.high) == (None, None)


def test_leniency_of_nothing_is_unknown_and_of_equals_is_0() -> None:
    assert leniency([], []) is None
    found = leniency([0.3, 0.3], [0.1 + 0.2, 0.3])
    assert found is not None
    assert (found.over, found.under, found.p) == (0, 0, 1.0)


def test_verbosity_of_twelve_answers() -> None:
    effect = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, None, None).verbosity
    assert effect is not None
    assert effect.estimate == pytest.approx(0.2629837814, abs=6e-11)
    per_unit = [one / LN2 for one in (effect.estimate, effect.se, effect.low, effect.high)]
    expected = [0.3794053973, 0.1275238713, 0.0853348228, 0.6734759718]
    assert per_unit == pytest.approx(expected, abs=6e-11)
    assert effect.p == pytest.approx(0.0177305961, abs=6e-11)


def test_self_preference_is_fitted_with_length() -> None:
    found = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, SAME, None)
    assert found.difference == 0.25
    assert found.self_preference is not None
    assert found.self_preference.estimate == pytest.approx(0.15969057, abs=6e-9)
    assert found.self_preference.se == pytest.approx(0.1595012, abs=6e-8)
    assert found.reasons == {}


def full_least_squares(
    groups: list[str], y: list[float], columns: list[list[float]], clusters: list[str] | None
) -> list[Effect]:
    """With a column for every dummy and the textbook sandwich."""
    names = sorted(set(groups))
    x = np.array([[g == name for name in names] for g in groups], dtype=float)
    x = np.column_stack([x, *columns])
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    b = bread @ x.T @ np.array(y)
    e = np.array(y) - x @ b
    if clusters is None:
        covariance, freedom = bread * (e @ e) / (n - k), n - k
    else:
        own = sorted(set(clusters))
        scores = [((np.array(clusters) == c) * e) @ x for c in own]
        freedom = len(own) - 1
        factor = len(own) / freedom * (n - 1) / (n - k)
        covariance = factor * bread @ sum(np.outer(s, s) for s in scores) @ bread
    found = []
    for place in range(len(names), k):
        se = math.sqrt(covariance[place, place])
        reach = stats.t.ppf(0.975, freedom) * se
        p = 2 * stats.t.sf(abs(b[place] / se), freedom)
        found.append(Effect(b[place], se, b[place] - reach, b[place] + reach, p))
    return found


def per_doubling(effect: Effect) -> Effect:
    scaled = [one * LN2 for one in (effect.estimate, effect.se, effect.low, effect.high)]
    return Effect(*scaled, effect.p)


def as_list(effect: Effect | None) -> list[float]:
    assert effect is not None
    return [effect.estimate, effect.se, effect.low, effect.high, effect.p]


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_taking_off_means_is_full_least_squares(
    seed: int, clustered: bool, with_family: bool
) -> None:
    random = Random(seed)
    n = random.randint(15, 40)
    human = [random.choice(["a", "b", "c"]) for _ in range(n)]
    judge = [random.choice([0, 0.5, 1]) for _ in range(n)]
    lengths = [random.randint(1, 900) for _ in range(n)]
    same = [random.random() < 0.4 for _ in range(n)]
    same[:2] = [True, False]
    human[:2] = ["a", "a"]
    clusters = [f"c{random.randint(0, 8)}" for _ in range(n)] if clustered else None
    found = fit_bias(human, judge, judge, lengths, same if with_family else None, clusters)
    columns = [
        [math.log(one) for one in lengths],
        *([list(map(float, same))] if with_family else []),
    ]
    expected = full_least_squares(human, judge, columns, clusters)
    assert as_list(found.verbosity) == pytest.approx(as_list(per_doubling(expected[0])), rel=1e-6)
    if with_family:
        assert as_list(found.self_preference) == pytest.approx(as_list(expected[1]), rel=1e-6)
    else:
        assert found.self_preference is None


def test_clusters_of_one_answer_change_nothing() -> None:
    names = [f"case {i}" for i in range(12)]
    alone = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, SAME, names)
    assert alone == fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, SAME, None)
    pairs = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, SAME, [f"case {i % 6}" for i in range(12)])
    assert pairs.verbosity is not None
    assert alone.verbosity is not None
    assert pairs.verbosity.estimate == alone.verbosity.estimate
    assert pairs.verbosity.se != alone.verbosity.se


def test_an_empty_answer_counts_as_one_character() -> None:
    empty = fit_bias(VERDICTS, JUDGE, HUMAN, [0, *LENGTHS[1:]], None, None)
    assert empty == fit_bias(VERDICTS, JUDGE, HUMAN, [1, *LENGTHS[1:]], None, None)


def check(found: BiasFit, verbosity: str | None, self_preference: str | None) -> None:
    """Parts of the reasons; None where there is an effect."""
    for name, part in (("verbosity", verbosity), ("self_preference", self_preference)):
        assert (getattr(found, name) is None) == (part is not None) == (name in found.reasons)
        assert part is None or part in found.reasons[name]


def test_what_does_not_vary_has_no_effect_and_leaves_the_other_alone() -> None:
    equal = [100] * 12
    check(fit_bias(VERDICTS, JUDGE, HUMAN, equal, SAME, None), "equally long", None)
    for same in (None, [True] * 12, [False] * 12):
        found = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, same, None)
        check(found, None, "family and of others")
        assert found.difference is None
        assert "difference" in found.reasons
        assert found.verbosity == fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, None, None).verbosity
    within = [verdict == "wrong" for verdict in VERDICTS]
    found = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, within, None)
    check(found, None, "no human verdict was given both")
    assert found.difference is not None


def test_length_and_family_that_go_together_cannot_be_told_apart() -> None:
    lengths = [200 if one else 100 for one in SAME]
    found = fit_bias(VERDICTS, JUDGE, HUMAN, lengths, SAME, None)
    check(found, "go together", "go together")
    assert found.difference == 0.25


def test_too_little_to_fit_says_so() -> None:
    check(fit_bias([], [], [], [], None, None), "equally long", "family and of others")
    few = slice(0, 4)
    found = fit_bias(VERDICTS[few], JUDGE[few], HUMAN[few], LENGTHS[few], None, None)
    check(found, "needs more than 4 answers", "family")
    found = fit_bias(VERDICTS, JUDGE, HUMAN, LENGTHS, None, ["one"] * 12)
    check(found, "more than one case", "family")
    perfect = fit_bias(VERDICTS, HUMAN, HUMAN, LENGTHS, SAME, None)
    check(perfect, "nothing is left to chance", "nothing is left to chance")
    assert perfect.difference == 0


def test_position_of_forty_pairs() -> None:
    found = position(28, 9, 3)
    assert (found.n, found.consistency, found.first, found.second) == (40, 0.7, 0.225, 0.075)
    assert found.bias == pytest.approx(0.15)
    assert found.p == 0.14599609375
    assert stats.binomtest(9, 12).pvalue == pytest.approx(0.14599609375, rel=1e-12)


def test_position_where_order_never_mattered_has_no_p() -> None:
    assert position(5, 0, 0) == Position(5, 1, 0, 0, 0, None)
    assert position(0, 0, 0) == Position(0, None, None, None, None, None)
