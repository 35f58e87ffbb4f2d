"""The fractions that floats mean."""

from fractions import Fraction
from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.units import common_denominator


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], 1),
        ([0.0, 1.0, -3.0], 1),
        ([0.5, 1.0], 2),
        ([0.3, 0.1 + 0.2], 10),
        ([(0.5 + 1 + 1) / 3 - 0.5], 3),
        ([1 / 3, 0.5], 6),
        ([1 / 9 - 1 / 7], 63),
        ([pi], None),
        ([1 / 997, 1 / 991, 1 / 983], None),
    ],
)
def test_the_scale_that_values_share(values: list[float], expected: int | None) -> None:
    assert common_denominator(values) == expected


@given(st.lists(st.fractions(-2, 2, max_denominator=30), min_size=1, max_size=3))
def test_every_value_becomes_whole(fractions: list[Fraction]) -> None:
    denominator = common_denominator([float(one) for one in fractions])
    assert denominator is not None
    assert all((one * denominator).denominator == 1 for one in fractions)
