"""Throughput of all streams together against how many there are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evalbot.domain.speed import SpeedRow, SpeedStatus
from evalbot.reporting.charts.layers import MARK_WIDTH, channels, panel
from evalbot.reporting.charts.look import dressed, not_drawn, shown
from evalbot.reporting.charts.spots import Mark, Spot, marks_of, sort_out

if TYPE_CHECKING:
    import altair as alt

SIZE, SIZE_ALONE = (210, 190), (480, 320)
"""Width and height in pixels of one panel among others, and of a single one."""

COMPARABLE = 5
"""Panels have one scale while the best of each is at least a fifth of the best of all."""

AIR = 1.3
"""Factor by which the axis of streams goes beyond the outermost."""


def throughput_chart(
    rows: Sequence[SpeedRow], models: Iterable[str] | None = None
) -> alt.TopLevelMixin | None:
    """Tokens per second of all streams together, one panel for each length of context.

    All scales begin at zero; they are the same in all panels, unless some panel could not be
    read then. models: all models of the set of figures, so that each looks the same in every
    one; those of the rows where it is not given. None where there is nothing to draw.
    """
    import altair as alt

    spots, reasons = sort_out(rows, _spot)
    if not spots:
        return None
    found = marks_of(spots, [row.model for row in rows] if models is None else models)
    through = channels(found, "streams", "tok/s")
    tops = _tops(spots)
    columns = 2 if len(tops) in (2, 4) else 3
    width, height = SIZE if len(tops) > 1 else SIZE_ALONE
    streams = sorted({spot.x for spot in spots})
    low, high = streams[0] / AIR, streams[-1] * AIR
    x = alt.X(
        "drawn_x:Q",
        title="Concurrent streams",
        scale=alt.Scale(type="log", base=2, domain=[low, high], nice=False),
        axis=alt.Axis(values=streams, format="d", grid=False),
    )
    charts = []
    moved = False
    for place, (name, top) in enumerate(tops.items()):
        y = alt.Y(
            "y:Q",
            title="Throughput (tok/s)" if place % columns == 0 else None,
            scale=alt.Scale(domain=[0, top], nice=False),
            axis=alt.Axis(tickCount=5),
        )
        marks = [mark for mark in found.marks if mark.panel == name]
        marks = _apart(marks, width / math.log2(high / low), top / height)
        moved = moved or any(mark.drawn_x != mark.x for mark in marks)
        title = alt.TitleParams(text=name, frame="group", fontSize=12, offset=6, limit=width)
        chart = panel(marks, x, y, through)
        charts.append(chart.properties(title=title, width=width, height=height))
    notes = [
        "Output tokens per second of all streams together",
        "" if len(set(tops.values())) == 1 else "Each panel has its own scale",
        "Open marks that would hide each other stand side by side" if moved else "",
        not_drawn(reasons),
    ]
    whole = alt.concat(*charts, columns=columns).resolve_scale(
        color="shared", shape="shared", strokeDash="shared"
    )
    return dressed(whole, "Throughput against concurrent streams", notes)


def _apart(marks: Sequence[Mark], octave: float, pixel: float) -> list[Mark]:
    """The marks, with flagged ones that lie on each other moved sideways.

    octave: the pixels of a doubling of streams; pixel: the tok/s of one. Collapsed models
    all lie near zero, and which ones they are must be seen.
    """
    moved = [mark for mark in marks if not mark.flag]
    heaps: list[list[Mark]] = []
    for mark in sorted((mark for mark in marks if mark.flag), key=lambda one: (one.x, one.y)):
        last = heaps[-1][-1] if heaps else None
        if last is not None and last.x == mark.x and mark.y - last.y < MARK_WIDTH * pixel:
            heaps[-1].append(mark)
        else:
            heaps.append([mark])
    for heap in heaps:
        step = min(MARK_WIDTH / octave, 0.7 / len(heap))
        for place, mark in enumerate(sorted(heap, key=lambda one: (one.name, one.setting))):
            octaves = (place - (len(heap) - 1) / 2) * step
            moved.append(replace(mark, drawn_x=mark.x * 2**octaves))
    return moved


def _spot(row: SpeedRow) -> Spot | str:
    speed, streams = row.aggregate_tps, row.concurrency
    if speed is None or not math.isfinite(speed) or speed < 0:
        return "without throughput"
    if streams is None or streams < 1:
        return "without concurrency"
    return Spot(row, x=streams, y=speed, panel=_context(row))


def _context(row: SpeedRow) -> str:
    if row.context_label and row.context_label.strip():
        return f"Context {shown(row.context_label)}"
    if row.context_tokens is not None:
        return f"Context {row.context_tokens:,} tokens"
    return "Context not told"


def _tops(spots: Sequence[Spot]) -> dict[str, float]:
    """Where the scale of each panel ends, panels from short contexts to long ones.

    A panel of flagged rows alone never has its own scale: it would make them look well.
    """
    lengths: dict[str, float] = {}
    best: dict[str, float] = {}
    good = {spot.panel for spot in spots if spot.row.status is SpeedStatus.OK}
    for spot in spots:
        lengths[spot.panel] = min(_length(spot.row), lengths.get(spot.panel, math.inf))
        best[spot.panel] = max(spot.y, best.get(spot.panel, 0.0))
    highest = max(best.values())
    common = all(COMPARABLE * best[name] >= highest for name in good)
    return {
        name: (highest if common or name not in good else best[name]) * 1.06 or 1.0
        for name in sorted(best, key=lambda name: (lengths[name], name))
    }


def _length(row: SpeedRow) -> float:
    """Tokens of context, as the label says or as counted; 0 for words like `short`."""
    number = re.search(r"(\d+(?:\.\d+)?)\s*([kKmM]?)", row.context_label or "", re.ASCII)
    if number is None:
        return 0 if row.context_label else row.context_tokens or 0
    return float(number[1]) * {"": 1, "k": 1000, "m": 1_000_000}[number[2].lower()]
