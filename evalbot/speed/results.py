"""Everything the record knows about speed, as rows that may be read side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalbot.domain.runs import RunState
from evalbot.domain.settings import Config
from evalbot.domain.speed import SpeedRow
from evalbot.domain.sweeps import Sweep
from evalbot.formats.words import count
from evalbot.speed.cost import Prices, comparisons, currencies, with_cost
from evalbot.speed.flags import flagged
from evalbot.speed.measured import measured_rows
from evalbot.speed.memory_notes import memory_notes
from evalbot.store import leases, sweeps
from evalbot.store.database import Connection, Database
from evalbot.store.leases import Leased


@dataclass(frozen=True, slots=True)
class SpeedQuery:
    """Which rows are wanted; empty is all. sweeps: ids or their beginnings."""

    sweeps: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()

    def wants(self, row: SpeedRow) -> bool:
        """Whether the row is one of those."""
        pairs = (
            (self.labels, row.label),
            (self.models, row.model),
            (self.hardware, row.hardware),
            (self.sources, str(row.source)),
            (self.statuses, str(row.status)),
        )
        return all(not wanted or value in wanted for wanted, value in pairs)


@dataclass(frozen=True, slots=True)
class SpeedResults:
    """Rows, oldest sweep first, and what has to be said beside them."""

    rows: tuple[SpeedRow, ...]
    notes: tuple[str, ...]


def speed_results(database: Database, config: Config, query: SpeedQuery) -> SpeedResults:
    """Flagged and priced rows of all sweeps and imports that the query asks for.

    Flags are found before rows are chosen: neighbours that are not shown count too.
    NotFoundError for a sweep that is not there.
    """
    rows: list[SpeedRow] = []
    notes: list[str] = []
    with database.read() as connection:
        for sweep in _chosen(connection, query.sweeps):
            of_sweep, said = results_of_sweep(connection, sweep)
            wanted = [row for row in of_sweep if query.wants(row)]
            rows += wanted
            notes += said if wanted else []
    prices = Prices({one.name: one for one in config.hardware}, config.electricity)
    rows = [with_cost(row, prices) for row in rows]
    named = currencies(rows, prices)
    if any(row.price is not None for row in rows) and named:
        notes.append(f"prices in {' and '.join(named)}, as the config says")
    return SpeedResults(tuple(rows), (*dict.fromkeys(notes), *comparisons(rows, prices)))


def results_of_sweep(
    connection: Connection, sweep: Sweep
) -> tuple[Sequence[SpeedRow], Sequence[str]]:
    """The flagged rows of one sweep, and what has to be said of it."""
    if sweep.plan is None:
        return flagged([replace(row, sweep=sweep.id) for row in sweep.rows]), []
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


def _chosen(connection: Connection, wanted: Sequence[str]) -> list[Sweep]:
    if not wanted:
        return sweeps.list_sweeps(connection)
    found = [sweeps.get_sweep(connection, one) for one in wanted]
    return list({sweep.id: sweep for sweep in found}.values())
