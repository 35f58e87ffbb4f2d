"""The rate table as a page shows it: the rows, and what else could be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.grading.basis import basis_of
from evalbot.reporting.charts import quality_speed_charts
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rates import chosen_runs, rates_of_run, refuse_unknown
from evalbot.reporting.speed_charts import points_of_run
from evalbot.running.self_check import SELF_CHECK
from evalbot.store.database import Connection, Database
from evalbot.store.judging import judges_used
from evalbot.store.run_lists import RunName, run_names

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reader chose; runs: empty is the newest of each suite. tag: only that one's rows."""

    runs: tuple[str, ...] = ()
    query: RateQuery = field(default_factory=RateQuery)
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """Rows of a choice, and what the chosen runs have to choose from.

    choice: without what these runs do not have. judges: those of the judge layer only.
    """

    choice: Choice
    rows: tuple[RateRow, ...]
    models: tuple[str, ...]
    tags: tuple[str, ...]
    judges: tuple[str, ...]


def results(database: Database, folder: Path, choice: Choice, *, is_strict: bool) -> Results:
    """The rates of a choice; NotFoundError where there are no such runs.

    is_strict: also for a model or judge that the runs do not have, which else is left out.
    """
    with database.read() as connection:
        chosen = chosen_runs(connection, choice.runs, choice.query.suites)
        models = tuple(dict.fromkeys(name for run in chosen for name in _models(run)))
        tags = tuple(sorted({t for run in chosen for case in run.suite.cases for t in case.tags}))
        judges = _judges(connection, chosen) if choice.query.layer is Layer.JUDGE else ()
        if is_strict:
            refuse_unknown(connection, chosen, choice.query)
        else:
            choice = _fitting(choice, models, tags, judges)
        query = replace(choice.query, by_tag=choice.query.by_tag or choice.tag is not None)
        rows = [
            row
            for run in chosen
            for row in rates_of_run(connection, run, basis_of(run, folder), query)
            if choice.tag in (None, row.tag)
        ]
    return Results(choice, tuple(rows), models, tags, judges)


def quality_charts(
    database: Database, folder: Path, choice: Choice
) -> dict[str, alt.TopLevelMixin]:
    """Quality against speed, a chart for each suite, over all tags."""
    query = replace(choice.query, by_tag=False)
    with database.read() as connection:
        chosen = chosen_runs(connection, choice.runs, query.suites)
        points = [
            point
            for run in chosen
            for point in points_of_run(connection, run, basis_of(run, folder), query=query)
        ]
    return quality_speed_charts(points)


def run_choices(database: Database) -> list[RunName]:
    """All runs by name, newest first."""
    with database.read() as connection:
        return run_names(connection)


def _models(run: Run) -> list[str]:
    names = [endpoint.name for endpoint in run.endpoints]
    return names + [name + CHECK_SUFFIX for name in names if SELF_CHECK in run.settings]


def _judges(connection: Connection, chosen: Sequence[Run]) -> tuple[str, ...]:
    return tuple(sorted({one.name for run in chosen for one in judges_used(connection, run.id)}))


def _fitting(
    choice: Choice, models: Sequence[str], tags: Sequence[str], judges: Sequence[str]
) -> Choice:
    query = choice.query
    return replace(
        choice,
        tag=choice.tag if choice.tag in tags else None,
        query=replace(
            query,
            models=tuple(name for name in query.models if name in models),
            judge=query.judge if query.judge in judges else None,
        ),
    )
