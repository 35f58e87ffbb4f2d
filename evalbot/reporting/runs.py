"""The list of runs: as a table, as lines, and how far those have come that are worked on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalbot.domain.runs import RunState
from evalbot.formats.tables import Column, Kind, Table
from evalbot.store import leases, run_lists
from evalbot.store.database import Database
from evalbot.store.run_lists import RunSummary


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run of the list. state: stopped too where the process that worked on it has died."""

    summary: RunSummary
    state: RunState


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that a process works on: answers by endpoint, and how many places each has."""

    run: str
    label: str | None
    answered: Mapping[str, int]
    places: int


def run_lines(database: Database, *, count_unscored: bool = True) -> list[RunLine]:
    """All runs, newest first; see store.run_lists.list_runs."""
    with database.read() as connection:
        return [
            RunLine(
                line,
                RunState.STOPPED
                if line.state is RunState.RUNNING and not leases.is_held(connection, line.run)
                else line.state,
            )
            for line in run_lists.list_runs(connection, count_unscored=count_unscored)
        ]


def live_runs(database: Database) -> list[LiveRun]:
    """The runs that living processes work on, on this machine or elsewhere, oldest first."""
    with database.read() as connection:
        return [
            LiveRun(
                run,
                label,
                run_lists.count_places(connection, run),
                run_lists.count_wanted(connection, run),
            )
            for run, label in run_lists.running_runs(connection)
            if leases.is_held(connection, run)
        ]


def runs_table(database: Database) -> Table:
    """contract.md's columns of `runs`. A run whose process has died is shown as stopped."""
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
                line.summary.run,
                line.summary.suite,
                line.summary.label,
                str(line.state),
                line.summary.endpoints,
                line.summary.cases,
                line.summary.repeats,
                line.summary.answers,
                line.summary.unscored,
                line.summary.started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
            for line in run_lines(database)
        ),
    )
