from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.rounding import half_up, percent


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (56.25, 1, "56.3"),
        (2.675, 2, "2.68"),
        (1.005, 2, "1.01"),
        (0.5, 0, "1"),
        (-0.5, 0, "-1"),
        (-0.04, 1, "0.0"),
        (-0.05, 1, "-0.1"),
        (0, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (7, 1, "7.0"),
        (9.95, 1, "10.0"),
        (1e-12, 3, "0.000"),
        (1e22, 1, "10000000000000000000000.0"),
        (Fraction(1, 3), 2, "0.33"),
        (Fraction(1, 8), 2, "0.13"),
    ],
)
def test_halves_are_rounded_away_from_zero(
    value: float | Fraction, digits: int, expected: str
) -> None:
    assert half_up(value, digits) == expected


@given(st.floats(-1e15, 1e15), st.integers(0, 6))
def test_a_float_is_rounded_by_the_digits_that_are_seen(value: float, digits: int) -> None:
    expected = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    assert half_up(value, digits) == f"{abs(expected) if expected == 0 else expected:f}"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError):
        half_up(value, 1)


@pytest.mark.parametrize(
    ("fraction", "digits", "expected"),
    [
        (0.5625, 1, "56.3 %"),
        (0.0, 1, "0.0 %"),
        (1, 1, "100.0 %"),
        (0.14999999999999999, 0, "15 %"),
        (-0.125, 1, "-12.5 %"),
        (Fraction(2, 3), 2, "66.67 %"),
    ],
)
def test_fractions_are_shown_as_percentages(
    fraction: float | Fraction, digits: int, expected: str
) -> None:
    assert percent(fraction, digits) == expected
