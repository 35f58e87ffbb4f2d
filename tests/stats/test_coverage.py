"""Intervals hold the truth as often as they say: a small part of `python -m bench simulate`.

Drawn by the package's own policies from sets of known worth. 300 reviews of each: of a true 95 %,
fewer than 273 (91 %) come once in five hundred; the seed is fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from bench.simulate import WILSON_RATES, WILSON_SIZES, wilson_coverage
from evalbot.stats.correction import Corrected, Label, corrected_rate
from evalbot.stats.sampling import Drawn, draw_random, draw_stratified, draw_uncertain

REVIEWS = 300
Truth = list[tuple[float, float]]
"""(human, judge) of every answer."""

GOOD_JUDGE: Truth = [(1, 1)] * 170 + [(0, 0)] * 22 + [(0, 1)] * 5 + [(1, 0)] * 3
LENIENT: Truth = (
    [(1, 1)] * 60 + [(0.5, 0.5)] * 50 + [(0.5, 1)] * 30 + [(0, 0)] * 35 + [(0, 0.5)] * 25
)
RANDOM: Truth = [(human, judge) for human in (0, 1) for judge in (0, 1)] * 50


def reviews(truth: Truth, design: str, size: int) -> Sequence[Corrected]:
    units = {f"{n}": pair for n, pair in enumerate(truth)}
    strata = {unit: f"{judge}" for unit, (_, judge) in units.items()}
    doubts = {unit: 0.7 if human != judge else 0.2 for unit, (human, judge) in units.items()}
    random = Random(7)
    found = []
    for _ in range(REVIEWS):
        drawn: list[Drawn]
        if design == "random":
            drawn = draw_random(list(units), size, random)
        elif design == "stratified":
            drawn = draw_stratified(strata, size, random)
        else:
            drawn = draw_uncertain(doubts, size, random)
        labels = [
            Label(units[one.unit][1], units[one.unit][0], one.probability, one.stratum)
            for one in drawn
        ]
        found.append(corrected_rate([judge for _, judge in truth], labels, design))
    return found


@pytest.mark.parametrize(
    ("truth", "design", "size"),
    [
        (GOOD_JUDGE, "random", 10),
        (GOOD_JUDGE, "random", 40),
        (LENIENT, "random", 100),
        (RANDOM, "random", 100),
        (GOOD_JUDGE, "stratified", 20),
        (LENIENT, "stratified", 100),
        (RANDOM, "stratified", 100),
        (LENIENT, "uncertain", 100),
        (RANDOM, "uncertain", 100),
    ],
)
def test_corrected_rates_hold_the_truth(truth: Truth, design: str, size: int) -> None:
    rate = sum(human for human, _ in truth) / len(truth)
    found = reviews(truth, design, size)
    given = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    assert len(given) > 0.95 * REVIEWS
    assert sum(low <= rate <= high for low, high in given) >= 0.91 * len(given)
    mean = sum(one.rate for one in found if one.rate is not None) / REVIEWS
    assert mean == pytest.approx(rate, abs=0.015)


def test_a_good_judge_makes_the_interval_narrower_than_people_alone() -> None:
    found = reviews(GOOD_JUDGE, "random", 40)
    width = sum((one.high or 0) - (one.low or 0) for one in found)
    alone = sum((one.human_high or 0) - (one.human_low or 0) for one in found)
    assert width < 0.9 * alone


def test_wilson_holds_95_percent_on_average() -> None:
    """Computed, not drawn."""
    found = [wilson_coverage(rate, n) for rate in WILSON_RATES for n in WILSON_SIZES]
    assert sum(found) / len(found) == pytest.approx(0.951, abs=0.0005)


@pytest.mark.parametrize(
    ("rate", "n", "coverage"),
    [(0.02, 8, 0.851), (0.02, 6, 0.886), (0.05, 10, 0.914), (0.02, 200, 0.933)],
)
def test_wilson_in_its_worst_places(rate: float, n: int, coverage: float) -> None:
    assert wilson_coverage(rate, n) == pytest.approx(coverage, abs=0.0005)


def test_whole_clusters_hold_the_truth_where_they_are_known_and_only_there() -> None:
    """20 of 100 documents of ten answers each, misjudged as a whole."""
    random = Random(7)
    known = unknown = 0
    for _ in range(REVIEWS):
        truth = {
            f"{document}": [(1.0 if random.random() < 0.7 else 0.0, misjudged) for _ in range(10)]
            for document, misjudged in ((n, random.random() < 0.3) for n in range(100))
        }
        judge = [1.0 if wrong else human for pairs in truth.values() for human, wrong in pairs]
        labels = [
            Label(1.0 if wrong else human, human, 0.2, None, one.unit)
            for one in draw_random(list(truth), 20, random)
            for human, wrong in truth[one.unit]
        ]
        rate = sum(human for pairs in truth.values() for human, _ in pairs) / 1000
        found = corrected_rate(judge, labels, "random")
        alone = corrected_rate(judge, [one._replace(cluster="") for one in labels], "random")
        known += (
            found.low is not None and found.high is not None and found.low <= rate <= found.high
        )
        unknown += (
            alone.low is not None and alone.high is not None and alone.low <= rate <= alone.high
        )
    assert known >= 0.91 * REVIEWS
    assert unknown < 0.85 * REVIEWS
