"""The marks of a speed chart: lines through good spots, open marks for flagged ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from evalbot.domain.speed import SpeedStatus
from evalbot.reporting.charts.look import Look
from evalbot.reporting.charts.spots import Mark, Marks

if TYPE_CHECKING:
    import altair as alt

SIGNS = {
    SpeedStatus.COLLAPSED: Look(
        "#000000",
        "M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z",
    ),
    SpeedStatus.SUSPECT: Look("#000000", "M-.25,-1L.25,-1L.25,1L-.25,1Z"),
    SpeedStatus.CACHED: Look("#000000", "M-1,-.25L1,-.25L1,.25L-1,.25Z"),
}
"""What stands at an open mark: ×, | or –, as outlines in a square from -1 to 1."""

DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [14, 5])


MARK_WIDTH = 12
"""Pixels that an open mark takes."""

SIGN_AWAY = 11
"""Pixels from the middle of an open mark to that of its sign."""


@dataclass(frozen=True, slots=True)
class Channels:
    """What all panels of a chart share besides their axes."""

    colour: alt.Color
    shape: alt.Shape
    sign: alt.Shape
    dash: alt.StrokeDash | None
    tooltip: list[alt.Tooltip]


def channels(found: Marks, x_title: str, y_title: str) -> Channels:
    """Colours, shapes and dashes of the names, with one legend; the titles are for tooltips."""
    import altair as alt

    flags = {mark.flag for mark in found.marks}
    signs = {_entry(flag): look for flag, look in SIGNS.items() if flag in flags}
    # The same entries for every scale: so all layers have one legend, with the signs at its end.
    entries = {**found.looks, **signs}
    colours = alt.Scale(domain=list(entries), range=[look.colour for look in entries.values()])
    shapes = alt.Scale(domain=list(entries), range=[look.shape for look in entries.values()])
    return Channels(
        colour=alt.Color("name:N", title=None, scale=colours),
        shape=alt.Shape("name:N", title=None, scale=shapes),
        sign=alt.Shape("sign:N", title=None, scale=shapes),
        dash=_dash(found) if found.dashed_by else None,
        tooltip=[
            alt.Tooltip("name:N", title="model"),
            alt.Tooltip("setting:N", title="setting"),
            alt.Tooltip("x:Q", title=x_title, format=",.4~r"),
            alt.Tooltip("y:Q", title=y_title, format=",.4~r"),
            alt.Tooltip("flag:N", title="status"),
            alt.Tooltip("evidence:N", title="evidence"),
        ],
    )


def panel(marks: Sequence[Mark], x: alt.X, y: alt.Y, through: Channels) -> alt.LayerChart:
    """Whiskers, lines through good marks, and the marks: closed ones, and open ones with a sign.

    x and y: channels of the fields `drawn_x` and `y`. Signs stand over their marks, or under
    them where whiskers go up.
    """
    import altair as alt

    def on(marks: Sequence[Mark]) -> alt.Chart:
        values = [{**asdict(mark), "sign": _entry(mark.flag)} for mark in marks]
        return alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y, color=through.colour)

    good = [mark for mark in marks if not mark.flag]
    flagged = [mark for mark in marks if mark.flag]
    whiskers = [mark for mark in marks if mark.top is not None]
    ends = [replace(mark, y=mark.top) for mark in marks if mark.top is not None]
    layers: list[alt.Chart] = []
    if whiskers:
        layers.append(on(whiskers).mark_rule(strokeWidth=1).encode(y2="top:Q"))
        cap = on(ends).mark_tick(opacity=1, orient="horizontal", thickness=1, size=8)
        layers.append(cap)
    if good:
        line = on(_means(good)).mark_line(strokeWidth=1.8).encode(detail="stretch:N")
        layers.append(line if through.dash is None else line.encode(strokeDash=through.dash))
        closed = on(good).mark_point(filled=True, opacity=1, size=55)
        layers.append(closed.encode(shape=through.shape, tooltip=through.tooltip))
    if flagged:
        hollow = on(flagged).mark_point(filled=False, fill="white", opacity=1, size=70)
        layers.append(hollow.encode(shape=through.shape, tooltip=through.tooltip))
        away = SIGN_AWAY if whiskers else -SIGN_AWAY
        sign = on(flagged).mark_point(filled=True, opacity=1, size=32, yOffset=away)
        layers.append(sign.encode(shape=through.sign, color=alt.value("black")))
    return alt.LayerChart(layer=layers)


def _dash(found: Marks) -> alt.StrokeDash:
    import altair as alt

    settings = sorted({mark.setting for mark in found.marks})
    return alt.StrokeDash(
        "setting:N",
        title=", ".join(found.dashed_by),
        scale=alt.Scale(domain=settings, range=list(DASHES[: len(settings)])),
        legend=alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=1.8),
    )


def _means(marks: Sequence[Mark]) -> list[Mark]:
    """A mark for each x of a line, in order: lines go through the mean of what is there."""
    places: defaultdict[tuple[str, str, int, float], list[Mark]] = defaultdict(list)
    for mark in marks:
        places[mark.name, mark.setting, mark.stretch, mark.x].append(mark)
    return [
        replace(together[0], y=fmean(mark.y for mark in together), top=None)
        for _, together in sorted(places.items(), key=lambda place: place[0])
    ]


def _entry(flag: str) -> str:
    """What the legend calls a flag."""
    return f"{flag} (not joined)" if flag else ""
