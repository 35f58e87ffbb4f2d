"""Credits as whole numbers, so that sums and ties are exact."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

LARGEST_DENOMINATOR = 1_000
"""Of one value; a mean of nine repeats of tenths has 90."""

LARGEST_COMMON = 1_000_000
"""Of all values together; above it they are not counted as steps of one scale."""

NOISE = 1e-9
"""How far a float may lie from the fraction that it means."""


def common_denominator(values: Iterable[float]) -> int | None:
    """The least number that makes every value whole; None where the values share no scale.

    Halves give 2, tenths 10, means of three halves 6. The fraction that a float means is
    recovered: two fractions with denominators up to 1,000 are at least 1e-6 apart.
    """
    common = 1
    for value in set(values):
        exact = Fraction(value)
        meant = exact.limit_denominator(LARGEST_DENOMINATOR)
        if abs(meant - exact) > NOISE:
            return None
        common = lcm(common, meant.denominator)
        if common > LARGEST_COMMON:
            return None
    return common
