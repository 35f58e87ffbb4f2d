"""Figures of rates, ranks and judges: dots with their intervals, and bars of shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbot.reporting.charts.look import GREY, dressed, looks, not_drawn, shown

if TYPE_CHECKING:
    import altair as alt

WIDTH, STEP = 520, 26
"""Pixels of the plot, and of each line in it."""


class Dot(NamedTuple):
    """A value with its interval, in the line of its name; of: which set of dots it belongs to."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    of: str = ""


def dots_chart(
    dots: Sequence[Dot],
    title: str,
    axis: str,
    subtitle: Sequence[str] = (),
    *,
    is_rate: bool = False,
) -> alt.TopLevelMixin | None:
    """A line for each name, in this order; None where nothing has a value.

    is_rate: values are fractions, shown as percentages; else they are differences, around a
    rule where nothing differs.
    """
    import altair as alt

    known = [dot for dot in dots if dot.value is not None]
    if not known:
        return None
    order = list(dict.fromkeys(shown(dot.name) for dot in known))
    sets = list(dict.fromkeys(shown(dot.of) for dot in known))
    look = looks(sets)
    legend = alt.Legend(title=None) if len(sets) > 1 else None
    colours = alt.Scale(domain=sets, range=[look[name].colour for name in sets])
    shapes = alt.Scale(domain=sets, range=[look[name].shape for name in sets])
    colour = alt.Color("of:N", scale=colours, legend=legend)
    scale = alt.Scale(domain=[0, 1]) if is_rate else alt.Scale(zero=True)
    form = "%" if is_rate else "+.2~f"

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=axis, axis=alt.Axis(format=form), scale=scale)

    base = alt.Chart(alt.InlineData(values=[_values(dot) for dot in known])).encode(
        alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
        alt.YOffset("of:N", sort=sets),
        colour,
    )
    marks = base.mark_point(filled=True, size=70, opacity=1)
    layers = [
        base.mark_rule(strokeWidth=2).encode(across("low"), x2="high:Q"),
        marks.encode(across("value"), alt.Shape("of:N", scale=shapes, legend=legend)),
    ]
    if not is_rate:
        zero = alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        layers.insert(0, zero.mark_rule(color=GREY, strokeDash=[4, 4]).encode(across("zero")))
    lines = [*subtitle, not_drawn({"without a value": len(dots) - len(known)})]
    height = max(STEP, 14 * len(sets)) * len(order)
    return dressed(alt.LayerChart(layer=layers, width=WIDTH, height=height), title, lines)


def rank_chart(
    ranks: Mapping[str, Sequence[float]], title: str, subtitle: Sequence[str] = ()
) -> alt.TopLevelMixin | None:
    """For each model a bar parted by the probability of each rank; None without ranks."""
    import altair as alt

    if not ranks:
        return None
    count = len(ranks)
    places = alt.Scale(domain=list(range(1, count + 1)), scheme="viridis", reverse=True)
    bars = (
        alt.Chart(alt.InlineData(values=list(_shares(ranks))))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            alt.Y("name:N", sort=[shown(name) for name in ranks], title=None,
                  axis=alt.Axis(labelLimit=260)),
            alt.X("from:Q", title="probability", axis=alt.Axis(format="%"),
                  scale=alt.Scale(domain=[0, 1])),
            alt.Color("rank:O", title="rank", scale=places),
            x2="to:Q",
        )
    )  # fmt: skip
    return dressed(alt.LayerChart(layer=[bars], width=WIDTH, height=STEP * count), title, subtitle)


def _values(dot: Dot) -> dict[str, Any]:
    return {
        "name": shown(dot.name),
        "of": shown(dot.of),
        "value": dot.value,
        "low": dot.value if dot.low is None else dot.low,
        "high": dot.value if dot.high is None else dot.high,
    }


def _shares(ranks: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Any]]:
    for name, shares in ranks.items():
        reached = 0.0
        for place, share in enumerate(shares, 1):
            if share > 0:
                yield {"name": shown(name), "rank": place, "from": reached, "to": reached + share}
            reached += share
