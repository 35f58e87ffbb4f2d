"""How an audit's numbers are written for people."""

from __future__ import annotations

from evalbot.reporting.compare_tables import p_shown
from evalbot.stats.bias import Effect
from evalbot.stats.rounding import half_up, percent


def effect_words(effect: Effect | None) -> str | None:
    """An effect in credits with its interval."""
    if effect is None:
        return None
    inside = span(effect.low, effect.high)
    return f"{signed(effect.estimate)} ({inside}, p {p_shown(effect.p)})" if inside else None


def signed(value: float) -> str:
    """A difference of credits to two digits, with its sign."""
    shown = half_up(abs(value), 2)
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"


def span(low: float | None, high: float | None) -> str | None:
    """An interval of a difference."""
    return None if low is None or high is None else f"{signed(low)} – {signed(high)}"


def percents(low: float, high: float) -> str:
    """An interval of a share."""
    return f"{percent(low).removesuffix(' %')} – {percent(high)}"


def number(value: float | None) -> str | None:
    """A statistic to two digits."""
    return None if value is None else half_up(value, 2)
