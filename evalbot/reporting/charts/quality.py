"""Quality against decode speed: what a model's answers are worth, and what they cost in time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalbot.reporting.charts.crosses import HEIGHT, WIDTH, Axis, Cross, crosses_chart
from evalbot.reporting.charts.look import dressed, looks, not_drawn, shown
from evalbot.reporting.charts.spots import positive

if TYPE_CHECKING:
    import altair as alt

ALIKE = 0.6
"""Where the slowest has so much of the fastest's speed, the axis of speed need not begin at 0."""


@dataclass(frozen=True, slots=True)
class QualityPoint:
    """One model in one suite. Rates are fractions, speeds tokens per second; None is unknown.

    rate_title: what the rate counts; direction: which rate is better; low and high: the
    interval of the rate, decode_low and decode_high that of the speed.
    """

    suite: str
    model: str
    rate_title: str
    direction: Literal["lower", "higher"]
    rate: float | None
    low: float | None = None
    high: float | None = None
    decode_tps: float | None = None
    decode_low: float | None = None
    decode_high: float | None = None


def quality_speed_charts(
    points: Sequence[QualityPoint], models: Iterable[str] | None = None
) -> dict[str, alt.TopLevelMixin]:
    """A chart for each suite with something to draw, by the suite's name.

    A suite with several measures has a chart for each, by suite and measure: one axis
    cannot hold two. models: all models of the set of figures, so that each looks the same
    in every one; those of the points where it is not given.
    """
    everyone = [point.model for point in points] if models is None else list(models)
    groups: dict[tuple[str, str, str], list[QualityPoint]] = {}
    for point in sorted(points, key=lambda one: (one.suite, one.rate_title, one.direction)):
        groups.setdefault((point.suite, point.rate_title, point.direction), []).append(point)
    measures = Counter(suite for suite, _, _ in groups)
    charts = {}
    for (suite, title, direction), group in groups.items():
        name = suite if measures[suite] == 1 else f"{suite}, {title}, {direction} is better"
        chart = _chart(group, everyone)
        if chart is not None:
            charts[name] = chart
    return charts


def _chart(points: Sequence[QualityPoint], models: Sequence[str]) -> alt.TopLevelMixin | None:
    crosses = [_cross(point) for point in points]
    drawn = [cross for cross in crosses if isinstance(cross, Cross)]
    if not drawn:
        return None
    first, speeds = points[0], _speeds(drawn)
    chart = crosses_chart(
        drawn,
        looks([*(shown(model) for model in models), *(cross.name for cross in drawn)]),
        x=speeds,
        x_title="Decode speed (tok/s), higher is better",
        y=_rates(drawn),
        y_title=f"{shown(first.rate_title)} (%), {first.direction} is better",
    )
    known = any(cross.left < cross.right or cross.bottom < cross.top for cross in drawn)
    notes = [
        "Lines are 95 % intervals, where known" if known else "",
        "The axis of speed does not begin at 0" if speeds.first else "",
        not_drawn(Counter(cross for cross in crosses if isinstance(cross, str))),
    ]
    return dressed(chart, f"Quality and speed: {shown(first.suite)}", notes)


def _cross(point: QualityPoint) -> Cross | str:
    """The cross or, in the words that follow a count, why there is none."""
    rate, speed = point.rate, positive(point.decode_tps)
    if rate is None or not math.isfinite(rate):
        return "without a rate"
    if speed is None:
        return "without a decode speed"
    left, right = _ends(speed, point.decode_low, point.decode_high)
    bottom, top = _ends(100 * rate, _percent(point.low), _percent(point.high))
    return Cross(shown(point.model), speed, left, right, 100 * rate, bottom, top)


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _ends(value: float, low: float | None, high: float | None) -> tuple[float, float]:
    """The interval; without length where an end is unknown."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return value, value
    return min(low, value), max(high, value)


def _speeds(crosses: Sequence[Cross]) -> Axis:
    """From zero, so that twice as far is twice as fast, unless all are about as fast."""
    low, high = min(cross.left for cross in crosses), max(cross.right for cross in crosses)
    if len(crosses) > 1 and low >= ALIKE * high:
        air = max(0.25 * (high - low), 0.02 * high)
        return Axis(low - air, high + air, WIDTH)
    return Axis(0, 1.06 * high, WIDTH)


def _rates(crosses: Sequence[Cross]) -> Axis:
    """Around what is drawn, at least 20 points of percentage, within 0 and 100."""
    low, high = min(cross.bottom for cross in crosses), max(cross.top for cross in crosses)
    air = max(0.06 * (high - low), (20 - (high - low)) / 2, 2)
    return Axis(min(max(100.0, high), high + air), max(min(0.0, low), low - air), HEIGHT)
