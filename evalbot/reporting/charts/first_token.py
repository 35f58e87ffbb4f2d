"""Time to the first token against the length of the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING

from evalbot.domain.speed import SpeedRow
from evalbot.reporting.charts.layers import channels, panel
from evalbot.reporting.charts.look import dressed, not_drawn
from evalbot.reporting.charts.spots import NO_FIGURES, Spot, marks_of, positive, sort_out

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 560, 380
AIR = 1.2
"""Factor by which an axis goes beyond its outermost figures, at least."""

MOST_TICKS = 10


def first_token_chart(
    rows: Sequence[SpeedRow], models: Iterable[str] | None = None
) -> alt.TopLevelMixin | None:
    """Seconds to the first token against tokens of context, both axes logarithmic.

    The median, or the mean where that is all there is; a whisker ends at the 90th
    percentile. Only the lowest concurrency is drawn: waiting for other streams is another
    matter. models: as in `throughput_chart`. None where there is nothing to draw.
    """
    import altair as alt

    concurrency = _lowest_concurrency(rows)
    spots, reasons = sort_out(rows, partial(_spot, concurrency=concurrency))
    if not spots:
        return None
    found = marks_of(spots, [row.model for row in rows] if models is None else models)
    tokens = _ends([spot.x for spot in spots])
    seconds = _ends([value for spot in spots for value in (spot.y, spot.top) if value is not None])
    x = alt.X(
        "drawn_x:Q",
        title="Context (tokens, logarithmic)",
        scale=alt.Scale(type="log", domain=tokens, nice=False),
        axis=alt.Axis(values=round_ticks(*tokens), format=",~r"),
    )
    y = alt.Y(
        "y:Q",
        title="Time to first token (s, logarithmic)",
        scale=alt.Scale(type="log", domain=seconds, nice=False),
        axis=alt.Axis(values=round_ticks(*seconds), format=",~r"),
    )
    through = channels(found, "tokens", "seconds")
    chart = panel(found.marks, x, y, through).properties(width=WIDTH, height=HEIGHT)
    return dressed(
        chart,
        "Time to first token against context",
        [_meaning(spots, concurrency), not_drawn(reasons)],
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis: around the figures, and at least a decade, so that it has ticks."""
    low, high = min(values), max(values)
    air = max(AIR, sqrt(10 * low / high))
    return low / air, high * air


def round_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20 … within the range; where that is too many, powers of ten alone."""
    exponents = range(floor(log10(low)), ceil(log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) <= MOST_TICKS:
            break
    return within


def _time(row: SpeedRow) -> float | None:
    """Milliseconds."""
    return positive(row.ttft_ms_p50) or positive(row.ttft_ms_mean)


def _lowest_concurrency(rows: Iterable[SpeedRow]) -> int | None:
    """The lowest at which there is something to draw; None where none is told."""
    return min(
        (
            row.concurrency
            for row in rows
            if row.concurrency is not None
            and row.status not in NO_FIGURES
            and _time(row)
            and positive(row.context_tokens)
        ),
        default=None,
    )


def _spot(row: SpeedRow, concurrency: int | None) -> Spot | str:
    time, tokens = _time(row), positive(row.context_tokens)
    if time is None:
        return "without time to first token"
    if tokens is None:
        return "without a count of context tokens"
    if row.concurrency != concurrency:
        return "at another concurrency"
    slow = positive(row.ttft_ms_p90)
    top = slow / 1000 if slow is not None and slow > time else None
    return Spot(row, x=tokens, y=time / 1000, top=top)


def _meaning(spots: Sequence[Spot], concurrency: int | None) -> str:
    """What is drawn, in words."""
    means = sum(positive(spot.row.ttft_ms_p50) is None for spot in spots)
    parts = ["concurrency not told" if concurrency is None else f"concurrency {concurrency}"]
    if means < len(spots):
        parts.append(f"medians ({means} of {len(spots)} are means)" if means else "medians")
    else:
        parts.append("means")
    if any(spot.top is not None for spot in spots):
        parts.append("whiskers end at the 90th percentile")
    return "; ".join(parts).capitalize()
