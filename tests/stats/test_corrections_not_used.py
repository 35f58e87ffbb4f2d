"""Corrections that evalbot does not use: these numbers back what docs/statistics.md says of them.

Each is computed here from its published formula, without any library of its own.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

Z = 1.959963984540054
JUDGED = np.array([1, 1, 0.5, 1, 0, 0.5, 1, 1, 0.5, 0])
PEOPLE = np.array([1, 0.5, 0.5, 1, 0, 0, 1, 0.5, 0.5, 0.5])
REST = np.array([1] * 18 + [0.5] * 8 + [0] * 4)
ALL = np.concatenate([JUDGED, REST])


def ppi(weight: float) -> tuple[float, float]:
    """Prediction-powered mean and its standard error (Angelopoulos et al. 2023)."""
    rectifier = PEOPLE - weight * JUDGED
    variance = weight**2 * REST.var() / len(REST) + rectifier.var() / len(PEOPLE)
    return float(weight * REST.mean() + rectifier.mean()), math.sqrt(variance)


def best_weight() -> float:
    """PPI++ (arXiv 2311.01453): the weight with the least variance, in [0, 1]."""
    together = float(np.mean((PEOPLE - PEOPLE.mean()) * (JUDGED - JUDGED.mean())))
    weight = together / ((1 + len(PEOPLE) / len(REST)) * ALL.var(ddof=1))
    return min(1.0, max(0.0, weight))


@pytest.mark.parametrize(
    ("weight", "estimate", "error", "low", "high"),
    [
        (0.0, 0.55, 0.1106797181, 0.3330717387, 0.7669282613),
        (1.0, 0.6333333333, 0.1153095672, 0.4073307345, 0.8593359322),
        (None, 0.5914179104, 0.0887897797, 0.4173931401, 0.7654426807),
    ],
)
def test_prediction_powered_means(
    weight: float | None, estimate: float, error: float, low: float, high: float
) -> None:
    found, spread = ppi(best_weight() if weight is None else weight)
    assert found == pytest.approx(estimate, abs=6e-11)
    assert spread == pytest.approx(error, abs=6e-11)
    assert (found - Z * spread, found + Z * spread) == pytest.approx((low, high), abs=1e-10)


def test_the_weight_of_ppi_plus_plus() -> None:
    assert best_weight() == pytest.approx(0.4970149254, abs=6e-11)


def test_regression_on_the_judge() -> None:
    """GREG: the slope of people on the judge, instead of the difference's slope of 1."""
    slope, start = np.polyfit(JUDGED, PEOPLE, 1)
    rest = PEOPLE - start - slope * JUDGED
    error = math.sqrt((1 - 10 / 40) * float(np.sum(rest**2)) / 8 / 10)
    assert slope == pytest.approx(0.6065573770, abs=6e-11)
    assert start + slope * ALL.mean() == pytest.approx(0.5879098361, abs=6e-11)
    assert error == pytest.approx(0.0788947733, abs=6e-11)


def test_human_where_reviewed_else_judge_keeps_most_of_the_bias() -> None:
    mixed = np.concatenate([PEOPLE, REST]).mean()
    corrected = ALL.mean() + (PEOPLE - JUDGED).mean()
    assert mixed == pytest.approx(0.6875)
    assert corrected == pytest.approx(0.6125)


def test_overriding_is_biased_whatever_is_drawn() -> None:
    """All 64 outcomes of the six coins: the weighted estimate is right on average."""
    judged = np.array([1, 1, 0.5, 0.5, 0, 1])
    people = np.array([1, 0.5, 0.5, 0, 0, 1])
    chances = np.array([0.3125, 0.625, 0.5625, 0.8125, 0.3125, 0.375])
    outcomes = np.array(list(itertools.product((0, 1), repeat=6)))
    weights = np.prod(np.where(outcomes == 1, chances, 1 - chances), axis=1)
    weighted = (judged + (people - judged) * outcomes / chances).mean(axis=1)
    overriding = np.where(outcomes == 1, people, judged).mean(axis=1)
    errors = (outcomes * (1 - chances) / chances**2 * (people - judged) ** 2).sum(axis=1) / 36
    mean = float(weights @ weighted)
    assert mean == pytest.approx(people.mean()) == pytest.approx(0.5)
    variance = float(weights @ (weighted - mean) ** 2)
    assert variance == pytest.approx(0.0057692308, abs=6e-11)
    assert float(weights @ errors) == pytest.approx(0.0057692308, abs=6e-11)
    assert float(weights @ overriding) == pytest.approx(0.546875)
    assert judged.mean() == pytest.approx(0.6666666667)


def test_the_error_for_future_prompts_is_another_one() -> None:
    judged = np.array([1, 1, 0.5, 0.5, 0, 1])
    people = np.array([1, 0.5, 0.5, 0, 0, 1])
    chances = np.array([0.3125, 0.625, 0.5625, 0.8125, 0.3125, 0.375])
    terms = judged + (people - judged) * np.array([0, 1, 0, 1, 0, 1]) / chances
    assert terms.mean() == pytest.approx(0.4307692308, abs=6e-11)
    assert terms.std(ddof=1) / math.sqrt(6) == pytest.approx(0.1991599716, abs=6e-11)


def rogan_gladen(positive: float, sensitivity: float, specificity: float) -> float:
    return (positive + specificity - 1) / (sensitivity + specificity - 1)


def test_rogan_gladen() -> None:
    se, sp, q = 27 / 30, 16 / 20, 66 / 100
    rate = rogan_gladen(q, se, sp)
    youden = se + sp - 1
    variance = (
        q * (1 - q) / 100 + se * (1 - se) / 30 * rate**2 + sp * (1 - sp) / 20 * (1 - rate) ** 2
    ) / youden**2
    error = math.sqrt(variance)
    assert rate == pytest.approx(0.6571428571, abs=6e-11)
    assert error == pytest.approx(0.0956174176, abs=6e-11)
    assert (rate - 1.96 * error, rate + 1.96 * error) == pytest.approx(
        (0.4697327, 0.8445530), abs=6e-8
    )


def test_the_error_of_rogan_gladen_by_numeric_gradient() -> None:
    point, sizes, step = [66 / 100, 27 / 30, 16 / 20], [100, 30, 20], 1e-6
    variance = 0.0
    for position, (value, size) in enumerate(zip(point, sizes, strict=True)):
        above, below = list(point), list(point)
        above[position] += step
        below[position] -= step
        slope = (rogan_gladen(*above) - rogan_gladen(*below)) / (2 * step)
        variance += slope**2 * value * (1 - value) / size
    assert math.sqrt(variance) == pytest.approx(0.0956174176, abs=6e-10)


def test_lang_and_reiczigel() -> None:
    """Adjusted counts (n + z²; +1 of +2 for sensitivity and specificity), variances over n."""
    z2 = Z * Z
    q = (66 + z2 / 2) / (100 + z2)
    se, sp = (27 + 1) / (30 + 2), (16 + 1) / (20 + 2)
    youden = se + sp - 1
    rate = rogan_gladen(q, se, sp)
    shift = 2 * z2 * (rate * se * (1 - se) / 30 - (1 - rate) * sp * (1 - sp) / 20)
    half = (
        Z
        / youden
        * math.sqrt(
            q * (1 - q) / (100 + z2)
            + rate**2 * se * (1 - se) / 30
            + (1 - rate) ** 2 * sp * (1 - sp) / 20
        )
    )
    assert rate == pytest.approx(0.6589321324, abs=6e-11)
    assert shift == pytest.approx(-0.0045525697, abs=6e-11)
    assert half == pytest.approx(0.2092771953, abs=6e-11)
    assert rate + shift - half == pytest.approx(0.4451023674, abs=1e-10)
    assert rate + shift + half == pytest.approx(0.8636567580, abs=1e-10)


def test_rogan_gladen_for_three_grades() -> None:
    confusion = np.array([[8, 3, 1], [2, 9, 5], [0, 2, 20]], dtype=float)
    rows = confusion / confusion.sum(axis=1, keepdims=True)
    shares = np.linalg.solve(rows.T, np.array([0.2, 0.3, 0.5]))
    assert shares == pytest.approx([0.2315112540, 0.3652733119, 0.4032154341], abs=6e-11)
    assert float(shares @ [0, 0.5, 1]) == pytest.approx(0.5858520900, abs=6e-11)


def test_rogan_gladen_has_no_answer_where_the_judge_knows_nothing() -> None:
    with pytest.raises(ZeroDivisionError):
        rogan_gladen(0.66, 0.5, 0.5)


def test_neyman_allocation() -> None:
    sizes, spreads = np.array([20, 30, 50]), np.sqrt([0.0625, 0.1, 0.4 / 9])
    weights = sizes * spreads
    found = 20 * weights / weights.sum()
    assert found == pytest.approx([3.9956, 7.5810, 8.4234], abs=6e-5)
