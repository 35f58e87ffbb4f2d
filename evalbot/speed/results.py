"""Everything the record knows about speed, as rows that may be read side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalbot.domain.runs import RunState
from evalbot.domain.settings import Config
from evalbot.domain.speed import SpeedRow, SpeedSource
from evalbot.domain.sweeps import Sweep
from evalbot.errors import NotFoundError
from evalbot.formats.problems import nearest, shown
from evalbot.formats.words import count
from evalbot.speed.cost import ModelOfSweep, Prices, comparisons, price_notes, with_cost
from evalbot.speed.flags import flagged
from evalbot.speed.measured import measured_rows
from evalbot.speed.memory_notes import memory_notes
from evalbot.store import leases, sweeps
from evalbot.store.database import Connection, Database
from evalbot.store.leases import Leased


@dataclass(frozen=True, slots=True)
class SpeedQuery:
    """Which rows are wanted; empty is all. sweeps, without: ids or their beginnings."""

    sweeps: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()

    def wants(self, row: SpeedRow) -> bool:
        """Whether the row is one of those."""
        return all(not names or getattr(row, of) in names for of, names in self._wanted().items())

    def refuse_unknown(self, rows: Sequence[SpeedRow]) -> None:
        """Raises NotFoundError for a name that no row has, so that a slip is no empty table."""
        for of in GIVEN_NAMES if rows else ():
            there = list(dict.fromkeys(filter(None, (getattr(row, of) for row in rows))))
            for name in self._wanted()[of]:
                if name not in there:
                    close = nearest(name, there)
                    known = ", ".join(there) or "none"
                    hint = f"did you mean {close}?" if close else f"there are: {known}"
                    raise NotFoundError(f"no speed result has the {of} {shown(name)}; {hint}")

    def _wanted(self) -> dict[str, tuple[str, ...]]:
        return {
            "label": self.labels,
            "model": self.models,
            "hardware": self.hardware,
            "source": self.sources,
            "status": self.statuses,
        }


GIVEN_NAMES = ("label", "model", "hardware")
"""What people name freely, and can mistype."""


@dataclass(frozen=True, slots=True)
class SpeedResults:
    """Rows, oldest sweep first, and what has to be said beside them."""

    rows: tuple[SpeedRow, ...]
    notes: tuple[str, ...]


def speed_results(database: Database, config: Config, query: SpeedQuery) -> SpeedResults:
    """Flagged and priced rows of all sweeps and imports that the query asks for.

    Flags are found before rows are chosen: neighbours that are not shown count too.
    NotFoundError for a sweep, label, model or hardware that is not there.
    """
    found: list[SpeedRow] = []
    said: list[tuple[str, Sequence[str]]] = []
    loaded: dict[ModelOfSweep, str] = {}
    with database.read() as connection:
        for sweep in _chosen(connection, query):
            rows, notes = results_of_sweep(connection, sweep)
            rows = [_on_todays_hardware(row, config) for row in rows]
            found += rows
            if any(map(query.wants, rows)):
                said.append((sweep.label or sweep.id, notes))
            for endpoint in sweep.endpoints:
                if endpoint.model_fingerprint is not None:
                    name = ModelOfSweep(sweep.id, endpoint.name)
                    loaded[name] = endpoint.model_fingerprint
    query.refuse_unknown(found)
    prices = Prices({one.name: one for one in config.hardware}, config.electricity)
    wanted = [with_cost(row, prices) for row in found if query.wants(row)]
    beside = [
        *(f"{name}, {note}" if len(said) > 1 else note for name, of in said for note in of),
        *price_notes(wanted, prices),
        *comparisons(wanted, prices, loaded),
    ]
    return SpeedResults(tuple(wanted), tuple(dict.fromkeys(beside)))


def _on_todays_hardware(row: SpeedRow, config: Config) -> SpeedRow:
    """A sweep may be older than the config's word on what its endpoints run on."""
    if row.source is not SpeedSource.EVALBOT or row.hardware is not None:
        return row
    todays = {endpoint.name: endpoint.hardware for endpoint in config.endpoints}
    return replace(row, hardware=todays.get(row.model))


def results_of_sweep(
    connection: Connection, sweep: Sweep
) -> tuple[Sequence[SpeedRow], Sequence[str]]:
    """The flagged rows of one sweep, and what has to be said of it."""
    if sweep.plan is None:
        # An exported table keeps apart what was of different sweeps.
        return [replace(row, sweep=sweep.id) for row in flagged(sweep.rows)], []
    rounds = sweeps.get_samples(connection, sweep.id)
    readings = sweeps.get_readings(connection, sweep.id)
    rows = flagged(measured_rows(sweep, rounds, readings))
    return rows, [*_unfinished(connection, sweep, len(rounds)), *memory_notes(readings)]


def _unfinished(connection: Connection, sweep: Sweep, measured: int) -> Iterable[str]:
    assert sweep.plan is not None
    wanted = len(sweep.endpoints) * sum(1 for _ in sweep.plan.rounds(""))
    if sweep.state is RunState.FINISHED:
        return
    told = f"sweep {sweep.id}: {measured} of {count(wanted, 'round')} measured"
    if leases.is_held(connection, sweep.id, Leased.SWEEP):
        yield f"{told} so far"
    else:
        yield f"{told}; go on with: evalbot speed --resume {sweep.id}"


def _chosen(connection: Connection, query: SpeedQuery) -> list[Sweep]:
    without = {sweeps.get_sweep(connection, one).id for one in query.without}
    if query.sweeps:
        found = [sweeps.get_sweep(connection, one) for one in query.sweeps]
    else:
        found = sweeps.list_sweeps(connection)
    return list({sweep.id: sweep for sweep in found if sweep.id not in without}.values())
