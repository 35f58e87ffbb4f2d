"""Rounding as people round: half up, on the decimal digits that are seen."""

from __future__ import annotations

from fractions import Fraction


def half_up(value: int | float | Fraction, digits: int) -> str:
    """The number with this many decimals, halves rounded away from zero: 56.25 is 56.3.

    A float counts as the shortest decimal that means it, so 2.675 is 2.68 although its
    binary value lies below. A rounded zero has no sign. Raises ValueError for infinity
    and what is no number.
    """
    scaled = abs(_exact(value)) * 10**digits
    rounded = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    whole, decimals = divmod(rounded, 10**digits)
    sign = "-" if value < 0 and rounded else ""
    return f"{sign}{whole}.{decimals:0{digits}d}" if digits else f"{sign}{whole}"


def percent(fraction: int | float | Fraction, digits: int = 1) -> str:
    """A fraction as a percentage: 0.5625 is 56.3 %."""
    return f"{half_up(_exact(fraction) * 100, digits)} %"


def _exact(value: int | float | Fraction) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(repr(value))
