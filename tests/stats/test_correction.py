"""Corrected rates: the oracles, the refusals, and what must always hold."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.correction import Label, agrees_less_than_chance, corrected_rate
from evalbot.stats.wilson import wilson, wilson_of

JUDGED = [1, 1, 0.5, 1, 0, 0.5, 1, 1, 0.5, 0]
PEOPLE = [1, 0.5, 0.5, 1, 0, 0, 1, 0.5, 0.5, 0.5]
REST = [1] * 18 + [0.5] * 8 + [0] * 4
TEN = [Label(f, y, 0.25) for f, y in zip(JUDGED, PEOPLE, strict=True)]
CREDITS = st.sampled_from([0.0, 0.5, 1.0])
PAIRS = st.lists(st.tuples(CREDITS, CREDITS), min_size=1, max_size=60)


def test_ten_of_forty() -> None:
    found = corrected_rate(JUDGED + REST, TEN, "random")
    assert found.rate == pytest.approx(0.6125)
    assert found.low == pytest.approx(0.3339922778, abs=6e-11)
    assert found.high == pytest.approx(0.9056814278, abs=6e-11)
    assert (found.interval, found.reason, found.human_n) == ("mover", None, 10)


def test_the_reviewed_ones_stand_beside_it_with_their_own_interval() -> None:
    found = corrected_rate(JUDGED + REST, TEN, "random")
    assert found.human_rate == pytest.approx(0.55)
    assert (found.human_low, found.human_high) == pytest.approx(wilson(5.5, 10))


def test_strata() -> None:
    samples = [[0, 0, 0.5, 0], [0.5, 0, 0.5, 1, 0.5, 0.5], [1, 1, 0.5, 1, 1, 1, 0.5, 1, 1, 1]]
    labels = [Label(0, y, 0.2, str(h)) for h, values in enumerate(samples) for y in values]
    found = corrected_rate([0] * 100, labels, "stratified")
    assert found.rate == pytest.approx(0.625)
    assert found.human_rate == pytest.approx(0.625)
    assert found.interval == "mover-stratified"


def test_strata_of_a_stopped_campaign_keep_their_shares() -> None:
    """Half of what was drawn came back: the other half is open, not gone."""
    labels = [Label(1, 1, 0.2, "a")] * 4 + [Label(0, 0, 0.2, "b")] * 6
    half = corrected_rate([1] * 40 + [0] * 60, labels, "stratified")
    alike = [one._replace(probability=0.1) for one in labels]
    assert half == corrected_rate([1] * 40 + [0] * 60, alike, "stratified")


def test_one_weighted_draw() -> None:
    labels = [Label(1, 0.5, 0.625), Label(0.5, 0, 0.8125), Label(1, 1, 0.375)]
    found = corrected_rate([1, 1, 0.5, 0.5, 0, 1], labels, "uncertain")
    assert found.rate == pytest.approx(0.4307692308, abs=6e-11)


@pytest.mark.parametrize("design", ["random", "stratified", "uncertain"])
def test_few_labels_have_no_interval(design: str) -> None:
    found = corrected_rate(JUDGED + REST, TEN[:9], design)
    assert found.rate is not None
    assert (found.low, found.high, found.interval) == (None, None, None)
    assert found.reason == "too few labels"
    assert found.human_low is not None


@pytest.mark.parametrize("design", ["random", "stratified", "uncertain"])
def test_no_labels_are_refused(design: str) -> None:
    found = corrected_rate(JUDGED, [], design)
    assert (found.rate, found.human_rate, found.human_n) == (None, None, 0)
    assert found.reason == "no labels"


def test_few_disagreements_leave_a_weighted_rate_without_an_interval() -> None:
    labels = [Label(1, 1, 0.1)] * 81 + [Label(1, 0, 0.5)] * 19
    found = corrected_rate([1] * 1000, labels, "uncertain")
    assert found.rate == pytest.approx(1 - 19 / 0.5 / 1000)
    assert (found.low, found.high, found.reason) == (None, None, "too few disagreements")
    labels.append(Label(1, 0, 0.5))
    found = corrected_rate([1] * 1000, labels, "uncertain")
    assert (found.interval, found.reason) == ("ipw", None)


@pytest.mark.parametrize("design", ["random", "stratified", "uncertain"])
def test_all_reviewed_is_certain(design: str) -> None:
    found = corrected_rate(JUDGED, [one._replace(probability=1) for one in TEN], design)
    assert found.rate == found.low == found.high == pytest.approx(0.55)
    assert found.interval == "census"


@pytest.mark.parametrize("design", ["random", "stratified", "uncertain"])
def test_all_reviewed_is_one_rate_whatever_the_chances_were(design: str) -> None:
    """Two draws may have taken all, each answer with a chance of its own below 1."""
    labels = [
        one._replace(probability=0.5 + n / 20, stratum=str(n % 2)) for n, one in enumerate(TEN)
    ]
    found = corrected_rate(JUDGED, labels, design)
    assert found.human_rate == found.rate == pytest.approx(0.55)


def test_twenty_that_differ_give_t() -> None:
    labels = [Label(1, 1, 0.1)] * 40 + [Label(1, 0, 0.1)] * 20
    assert corrected_rate([1] * 600, labels, "random").interval == "t"


def test_equal_differences_are_one_whatever_their_last_bits_say() -> None:
    """0.3 − 0.1 and 0.2 − 0 differ as binary numbers."""
    labels = [Label(0.1, 0.3, 0.1)] * 30 + [Label(0.0, 0.2, 0.1)] * 30
    assert corrected_rate([0.1] * 600, labels, "random").interval == "mover"


@pytest.mark.parametrize("design", ["random", "stratified", "uncertain"])
def test_clusters_widen_the_interval(design: str) -> None:
    labels = [Label(1, (n // 3) % 2, 0.1) for n in range(60)]
    alone = corrected_rate([1] * 600, labels, design)
    own = [one._replace(cluster=f"{n}") for n, one in enumerate(labels)]
    by_three = [one._replace(cluster=f"{n // 3}") for n, one in enumerate(labels)]
    wide = corrected_rate([1] * 600, by_three, design)
    assert corrected_rate([1] * 600, own, design) == alone
    for one in (alone, wide):
        assert None not in (one.low, one.high, one.human_low, one.human_high)
    assert wide.rate == alone.rate
    assert wide.high - wide.low > 1.4 * (alone.high - alone.low)  # type: ignore[operator]
    assert wide.human_high - wide.human_low > 1.4 * (  # type: ignore[operator]
        alone.human_high - alone.human_low  # type: ignore[operator]
    )


def test_strata_by_cluster_count_what_is_left_inside_the_strata() -> None:
    """What sets the strata apart is known, so it makes no answers alike."""
    labels = [Label(1, 0.5, 0.1, "a", f"{n // 2}") for n in range(20)]
    labels += [Label(0, 0, 0.1, "b", f"{n // 2}") for n in range(20, 40)]
    judge = [1] * 200 + [0] * 200
    wide = corrected_rate(judge, labels, "stratified")
    alone = corrected_rate(judge, [one._replace(cluster="") for one in labels], "stratified")
    assert wide.rate == alone.rate == pytest.approx(0.25)
    assert wide.low < alone.low  # type: ignore[operator]


def test_uneven_chances_count_as_fewer_reviewed_ones() -> None:
    labels = [Label(1, 1, 0.5)] * 10 + [Label(1, 0, 0.1)] * 10
    found = corrected_rate([1] * 120, labels, "uncertain")
    assert found.human_rate == pytest.approx(20 / 120)
    size = 120**2 / (10 * 2**2 + 10 * 10**2)
    assert (found.human_low, found.human_high) == pytest.approx(wilson(size / 6, size))


def test_human_clusters_count_as_fewer() -> None:
    people = zip([1, 1, 1, 0.5, 0, 0.5], "aabbcc", strict=True)
    labels = [Label(1, y, 0.1, None, cluster) for y, cluster in people]
    found = corrected_rate([1] * 60, labels, "random")
    assert (found.human_low, found.human_high) == pytest.approx((0.2015296026, 0.9406464810))


@pytest.mark.parametrize(
    ("judge", "labels", "design"),
    [([1.0], TEN, "random"), (JUDGED, TEN, "volunteer")],
)
def test_wrong_input_is_refused(judge: list[float], labels: list[Label], design: str) -> None:
    with pytest.raises(ValueError):
        corrected_rate(judge, labels, design)


def test_an_estimate_that_no_rate_can_be_keeps_its_width() -> None:
    labels = [Label(1, 0, 0.1)] * 40 + [Label(0, 0, 0.2)] * 40
    found = corrected_rate([1] * 100 + [0] * 500, labels, "uncertain")
    assert found.rate == found.low == 0
    assert found.interval == "ipw"
    assert found.high is not None
    assert found.high > 0.1


@given(PAIRS, st.integers(1, 200), st.integers(0, 2**32))
def test_a_perfect_judge_is_left_as_it_is(
    pairs: list[tuple[float, float]], more: int, seed: int
) -> None:
    random = Random(seed)
    judge = [f for f, _ in pairs] + [random.choice([0, 0.5, 1]) for _ in range(more)]
    labels = [Label(f, f, len(pairs) / len(judge)) for f, _ in pairs]
    found = corrected_rate(judge, labels, "random")
    assert found.rate == pytest.approx(sum(judge) / len(judge))


@given(PAIRS, st.integers(1, 200), st.sampled_from(["random", "stratified"]))
def test_bounds_hold_the_rate_and_stay_in_range(
    pairs: list[tuple[float, float]], more: int, design: str
) -> None:
    judge = [f for f, _ in pairs] + [1.0] * more
    labels = [Label(f, y, len(pairs) / len(judge), str(f)) for f, y in pairs]
    found = corrected_rate(judge, labels, design)
    assert found.rate is not None
    assert 0 <= found.rate <= 1
    assert (found.low is None) == (len(pairs) < 10)
    if found.low is not None and found.high is not None:
        assert 0 <= found.low <= found.rate <= found.high <= 1


@given(PAIRS)
def test_with_one_stratum_stratified_is_random(pairs: list[tuple[float, float]]) -> None:
    judge = [f for f, _ in pairs] * 4
    labels = [Label(f, y, 0.25, "all") for f, y in pairs]
    one = corrected_rate(judge, labels, "random")
    other = corrected_rate(judge, labels, "stratified")
    assert other.rate == pytest.approx(one.rate)
    if one.low is not None:
        assert (other.low, other.high) == pytest.approx((one.low, one.high))


def test_over_all_samples_the_random_estimate_is_unbiased() -> None:
    """All 210 samples of four of ten; neither end is clipped in this set."""
    rates = []
    for sample in itertools.combinations(range(10), 4):
        labels = [Label(JUDGED[n], PEOPLE[n], 0.4) for n in sample]
        rates.append(corrected_rate(JUDGED, labels, "random").rate or 0.0)
    assert sum(rates) / len(rates) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("pairs", "worse"),
    [
        ([("a", "a"), ("b", "b")], False),
        ([("a", "b"), ("b", "a")], True),
        ([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")], False),
        ([("a", "a")] * 9, False),
        ([("a", "a")] * 8 + [("a", "b"), ("b", "a")], True),
        ([], False),
    ],
)
def test_worse_than_chance(pairs: list[tuple[str, str]], worse: bool) -> None:
    assert agrees_less_than_chance(pairs) is worse


def test_the_humans_interval_is_the_usual_one() -> None:
    found = corrected_rate(JUDGED + REST, TEN, "random")
    assert (found.human_low, found.human_high) == pytest.approx(wilson_of(PEOPLE))
