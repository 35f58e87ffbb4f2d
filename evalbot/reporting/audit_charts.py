"""Figures of an audit and of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalbot.auditing.audit import Audit
from evalbot.auditing.comparing import Comparison
from evalbot.auditing.judges import JudgeAudit
from evalbot.reporting.charts import Dot, dots_chart, rank_chart
from evalbot.reporting.rate_rows import RateRow
from evalbot.stats.wilson import wilson

if TYPE_CHECKING:
    import altair as alt


def rates_chart(rows: Sequence[RateRow]) -> alt.TopLevelMixin | None:
    """The rates of one suite with their intervals, best first; several layers side by side."""
    layers = list(dict.fromkeys(row.layer for row in rows))
    dots = [Dot(row.model, row.rate.rate, row.rate.low, row.rate.high, row.layer) for row in rows]
    if not rows:
        return None
    rate = rows[0].rubric.rate
    title = f"{rows[0].suite}: {rate.title}"
    return dots_chart(
        dots,
        title,
        rate.title,
        [f"{rate.direction} is better; {', '.join(layers)} layer, 95 % intervals"],
        is_rate=True,
    )


def ranks_chart(found: Comparison) -> alt.TopLevelMixin | None:
    """The probability of each rank, the likeliest first rank on top."""
    ranks = dict(sorted(found.ranks.items(), key=lambda one: [-share for share in one[1]]))
    return rank_chart(
        ranks, f"{found.suite}: probability of each rank",
        [f"{found.n} cases drawn anew; {found.layer} layer"],
    )  # fmt: skip


def leniency_chart(found: Audit) -> alt.TopLevelMixin | None:
    """Each judge's leniency to each model."""
    dots = [
        Dot(
            one.model,
            one.leniency.mean if one.leniency else None,
            one.leniency.low if one.leniency else None,
            one.leniency.high if one.leniency else None,
            judge.name,
        )
        for judge in found.judges
        for one in judge.by_model
    ]
    return dots_chart(
        dots,
        f"{found.suite}: how much more credit the judge gives than people",
        "leniency, in credits",
        ["right of the line: lenient; left: harsh; 95 % intervals"],
    )


def calibration_chart(found: Audit, judge: JudgeAudit) -> alt.TopLevelMixin | None:
    """How often people gave the same verdict as the judge, for each verdict of the judge."""
    dots = []
    for column, label in enumerate(judge.confusion.labels):
        n = sum(row[column] for row in judge.confusion.counts)
        same = judge.confusion.counts[column][column]
        interval = wilson(same, n)
        dots.append(
            Dot(
                f"{label} (n = {n})",
                same / n if n else None,
                interval.low if interval else None,
                interval.high if interval else None,
            )
        )
    return dots_chart(
        dots,
        f"{found.suite}: where {judge.name} says a verdict, how often do people?",
        "people say the same",
        ["95 % intervals"],
        is_rate=True,
    )


def drawn(charts: Mapping[str, alt.TopLevelMixin | None]) -> dict[str, alt.TopLevelMixin]:
    """Those that there is something to draw for."""
    return {name: chart for name, chart in charts.items() if chart is not None}
