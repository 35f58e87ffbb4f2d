"""Named points with an interval on both axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbot.reporting.charts.look import GREY, Look
from evalbot.reporting.charts.placing import ALIGNS, Place, Point, place_names, width_of

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 600, 400
NAME_LIMIT = 200
"""Pixels after which a name beside its point is cut."""

LEAD_FROM = 12
"""Pixels from a point to its name after which a line leads from one to the other."""


class Cross(NamedTuple):
    """A point with the ends of its intervals; an unknown interval has no length."""

    name: str
    x: float
    left: float
    right: float
    y: float
    bottom: float
    top: float


class Axis(NamedTuple):
    """What lies at the first pixel of an axis, what at the last, and how many there are.

    The first one is on the left, or at the top.
    """

    first: float
    last: float
    pixels: int

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return (value - self.first) / (self.last - self.first) * self.pixels

    def value(self, pixel: float) -> float:
        """The value at a pixel."""
        return self.first + pixel / self.pixels * (self.last - self.first)


def crosses_chart(
    crosses: Sequence[Cross],
    looks: Mapping[str, Look],
    *,
    x: Axis,
    x_title: str,
    y: Axis,
    y_title: str,
) -> alt.LayerChart:
    """Whiskers, leads, points and names; a white rim keeps the names apart from whiskers."""
    import altair as alt

    names = sorted({cross.name for cross in crosses})
    colours = alt.Scale(domain=names, range=[looks[name].colour for name in names])
    shapes = alt.Scale(domain=names, range=[looks[name].shape for name in names])
    colour = alt.Color("name:N", scale=colours, legend=None)
    shape = alt.Shape("name:N", scale=shapes, legend=None)
    axis = alt.Axis(tickCount=8)

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[x.first, x.last], nice=False, zero=False)
        return alt.X(f"{field}:Q", title=x_title, scale=scale, axis=axis)

    def up(field: str) -> alt.Y:
        scale = alt.Scale(domain=[y.last, y.first], nice=False, zero=False)
        return alt.Y(f"{field}:Q", title=y_title, scale=scale, axis=axis)

    def on(values: Sequence[Mapping[str, Any]], across_field: str, up_field: str) -> alt.Chart:
        chart = alt.Chart(alt.InlineData(values=list(values)))
        return chart.encode(across(across_field), up(up_field))

    values = _values(crosses, x, y)
    led = [value for value in values if value["lead"] > LEAD_FROM]
    tooltip = [
        alt.Tooltip("name:N", title="model"),
        alt.Tooltip("x:Q", title=x_title, format=",.4~r"),
        alt.Tooltip("y:Q", title=y_title, format=".1f"),
    ]
    layers = [
        on(values, "left", "y").mark_rule(strokeWidth=1).encode(colour, x2="right:Q"),
        on(values, "x", "bottom").mark_rule(strokeWidth=1).encode(colour, y2="top:Q"),
    ]
    if led:
        lead = on(led, "x", "y").mark_rule(strokeWidth=0.7, color=GREY)
        layers.append(lead.encode(x2="lead_x:Q", y2="lead_y:Q"))
    marks = on(values, "x", "y").mark_point(filled=True, opacity=1, size=90)
    layers.append(marks.encode(colour, shape, tooltip=tooltip))
    for align in ALIGNS:
        aligned = [value for value in values if value["align"] == align]
        if aligned:
            text = on(aligned, "name_x", "name_y").encode(text="name:N")
            rim = text.mark_text(
                align=align, limit=NAME_LIMIT, stroke="white", strokeWidth=4, aria=False
            )
            layers += [rim, text.mark_text(align=align, limit=NAME_LIMIT)]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT)


def _values(crosses: Sequence[Cross], x: Axis, y: Axis) -> list[dict[str, Any]]:
    """The crosses with the places of their names, all in the units of the axes.

    lead: pixels from point to name.
    """
    points = [
        Point(
            x=x.at(cross.x),
            y=y.at(cross.y),
            left=x.at(cross.left),
            right=x.at(cross.right),
            top=y.at(cross.top),
            bottom=y.at(cross.bottom),
            name_width=width_of(cross.name, NAME_LIMIT),
        )
        for cross in crosses
    ]
    places = place_names(points, x.pixels, y.pixels)
    return [
        {**cross._asdict(), **_name_values(place, x, y)}
        for cross, place in zip(crosses, places, strict=True)
    ]


def _name_values(place: Place, x: Axis, y: Axis) -> dict[str, Any]:
    lead = place.lead
    return {
        "name_x": x.value(place.x),
        "name_y": y.value(place.y),
        "align": place.align,
        "lead_x": x.value(lead.x2),
        "lead_y": y.value(lead.y2),
        "lead": math.hypot(lead.x2 - lead.x1, lead.y2 - lead.y1),
    }
