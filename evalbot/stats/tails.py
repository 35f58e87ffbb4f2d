"""Tails of Student's t and of fair coins."""

from __future__ import annotations

from math import comb

EXACT_UP_TO = 1_000
"""Coins; above, sums of whole numbers take long."""


def t_quantile(level: float, freedom: float) -> float:
    """The t below which this share lies, with so many degrees of freedom (1 or more)."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def t_two_sided(t: float, freedom: int) -> float:
    """P(|T| >= |t|)."""
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(freedom, -abs(t))))


def sign_test(one_way: int, other_way: int) -> float:
    """Exact two-sided p of so many signs each way being fair coins; 1 without any sign."""
    n, fewer = one_way + other_way, min(one_way, other_way)
    if n <= EXACT_UP_TO:
        tail: float = sum(comb(n, k) for k in range(fewer + 1)) / 2**n
    else:
        from scipy.special import bdtr

        tail = float(bdtr(fewer, n, 0.5))
    return min(1.0, 2 * tail)
