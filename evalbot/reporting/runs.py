"""The list of runs as a table."""

from __future__ import annotations

from evalbot.domain.runs import RunState
from evalbot.formats.tables import Column, Kind, Table
from evalbot.store import leases, runs
from evalbot.store.database import Database


def runs_table(database: Database) -> Table:
    """contract.md's columns of `runs`. A run whose process has died is shown as stopped."""
    with database.read() as connection:
        lines = runs.list_runs(connection)
        abandoned = {
            line.run
            for line in lines
            if line.state is RunState.RUNNING and not leases.is_held(connection, line.run)
        }
    names = (
        "run", "suite", "label", "state", "endpoints", "cases", "repeats", "answers", "unscored",
        "started_at",
    )  # fmt: skip
    counts = {"endpoints", "cases", "repeats", "answers", "unscored"}
    return Table(
        "Runs",
        tuple(
            Column(name, name.replace("_", " "), Kind.COUNT if name in counts else Kind.TEXT)
            for name in names
        ),
        tuple(
            (
                line.run,
                line.suite,
                line.label,
                str(RunState.STOPPED if line.run in abandoned else line.state),
                line.endpoints,
                line.cases,
                line.repeats,
                line.answers,
                line.unscored,
                line.started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
            for line in lines
        ),
    )
