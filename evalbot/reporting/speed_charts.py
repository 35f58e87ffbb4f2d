"""The figures of `evalbot speeds`: speed as measured, and quality beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.domain.settings import Config
from evalbot.domain.speed import SpeedRow
from evalbot.grading.basis import Basis, basis_of
from evalbot.reporting.charts import (
    QualityPoint,
    first_token_chart,
    quality_speed_charts,
    throughput_chart,
)
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rates import rates_of_run
from evalbot.stats.quantiles import known, median_interval
from evalbot.store import runs
from evalbot.store.answers import glance_at_answers
from evalbot.store.database import Connection, Database

if TYPE_CHECKING:
    import altair as alt


def speed_charts(
    database: Database, config: Config, rows: Sequence[SpeedRow], models: Sequence[str] = ()
) -> dict[str, alt.TopLevelMixin]:
    """All figures there is something to draw for, by the name of their file.

    rows: of the speed table. models: only these in quality against speed, which is drawn for
    the newest run of each suite; empty is all.
    """
    points = quality_points(database, config.folder, models)
    everyone = [row.model for row in rows] + [point.model for point in points]
    charts = {
        "throughput": throughput_chart(rows, everyone),
        "first_token": first_token_chart(rows, everyone),
    }
    found = {name: chart for name, chart in charts.items() if chart is not None}
    for suite, chart in quality_speed_charts(points, everyone).items():
        found[f"quality_speed_{suite}"] = chart
    return found


def quality_points(
    database: Database, folder: Path, models: Sequence[str] = ()
) -> list[QualityPoint]:
    """Rate and decode speed, each with its interval, of the newest run of each suite."""
    points: list[QualityPoint] = []
    with database.read() as connection:
        for name in runs.newest_run_per_suite(connection):
            run = runs.get_run(connection, name)
            points += points_of_run(connection, run, basis_of(run, folder), models)
    return points


def points_of_run(
    connection: Connection,
    run: Run,
    basis: Basis,
    models: Sequence[str] = (),
    query: RateQuery | None = None,
) -> list[QualityPoint]:
    """One point for each model of a run, by the automatic layer or that of the query."""
    speeds: dict[str, list[float | None]] = defaultdict(list)
    for answer in glance_at_answers(connection, run.id):
        speeds[answer.endpoint].append(answer.decode_tps)
    rows = rates_of_run(connection, run, basis, query or RateQuery(Layer.AUTO))
    return [
        _point(row, known(speeds[row.model])) for row in rows if not models or row.model in models
    ]


def _point(row: RateRow, speeds: Sequence[float]) -> QualityPoint:
    low, high = median_interval(speeds) or (None, None)
    direction: Literal["lower", "higher"] = (
        "lower" if row.rubric.rate.direction == "lower" else "higher"
    )
    return QualityPoint(
        suite=row.suite,
        model=row.model,
        rate_title=f"{row.rubric.rate.title} ({row.layer} layer)",
        direction=direction,
        rate=None if row.rate.rate is None else float(row.rate.rate),
        low=row.rate.low,
        high=row.rate.high,
        decode_tps=row.speed.decode_tps_p50,
        decode_low=low,
        decode_high=high,
    )
