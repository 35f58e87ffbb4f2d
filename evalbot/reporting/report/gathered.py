"""Everything that a report tells of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.auditing.audit import Audit, AuditQuery, audit_of
from evalbot.auditing.comparing import Comparison, compare_models
from evalbot.auditing.gathering import Gathered, gather_runs
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.domain.speed import SpeedRow
from evalbot.grading.basis import Basis, basis_of
from evalbot.reporting.charts import QualityPoint
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rates import chosen_runs, rates_of_run
from evalbot.reporting.run_speed import run_speed_rows
from evalbot.reporting.speed_charts import points_of_run
from evalbot.store.database import Connection, Database
from evalbot.store.timings import timed_answers
from evalbot.transfer.head import masked_run
from evalbot.transfer.masking import Mask

CORRECTED = "corrected"
NEARLY_ALL = 0.9
"""So many of the cases must have a verdict for a layer to be quoted."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run. rates: by layer, in the order they are to be shown; main: the layer to quote.

    comparison: by the main layer (the judge's where that is the corrected one); None with one
    model. audit: None where no judge or no person has graded.
    """

    run: Run
    basis: Basis
    rates: dict[str, list[RateRow]]
    main: str
    comparison: Comparison | None
    audit: Audit | None
    speed: tuple[SpeedRow, ...]
    points: tuple[QualityPoint, ...]


def gather_report(
    database: Database, run_ids: Sequence[str], folder: Path, mask: Mask, query: AuditQuery
) -> list[RunReport]:
    """What a report of these runs tells; without any, of the newest of each suite."""
    with database.read() as connection:
        return [
            _run(connection, run, basis_of(run, folder), mask, query)
            for run in chosen_runs(connection, run_ids)
        ]


def _run(
    connection: Connection, run: Run, basis: Basis, mask: Mask, query: AuditQuery
) -> RunReport:
    gathered = gather_runs(connection, {run.id: (run, basis)})
    reviewed = any(answer.people for answer in gathered.answers)
    rates = {
        str(layer): rates_of_run(connection, run, basis, RateQuery(layer))
        for layer in _layers(gathered)
    }
    if gathered.judges and reviewed:
        corrected = RateQuery(Layer.JUDGE, corrected=True)
        rates[CORRECTED] = rates_of_run(connection, run, basis, corrected)
    main = _main(rates)
    compared = Layer.JUDGE if main == CORRECTED else Layer(main)
    several = len(run.endpoints) > 1
    return RunReport(
        run=masked_run(run, mask),
        basis=basis,
        rates=rates,
        main=main,
        comparison=compare_models(gathered, compared) if several else None,
        audit=audit_of(connection, gathered, query) if gathered.judges and reviewed else None,
        speed=tuple(run_speed_rows(masked_run(run, mask), timed_answers(connection, run.id))),
        points=tuple(points_of_run(connection, run, basis, query=RateQuery(compared))),
    )


def _layers(gathered: Gathered) -> list[Layer]:
    """The layers that have said something."""
    found = []
    if any(answer.auto.verdict is not None for answer in gathered.answers):
        found.append(Layer.AUTO)
    if gathered.judges:
        found.append(Layer.JUDGE)
    if any(answer.people for answer in gathered.answers):
        found.append(Layer.HUMAN)
    if any(answer.decided is not None for answer in gathered.answers):
        found.append(Layer.ADJUDICATED)
    return found or [Layer.AUTO]


def _main(rates: dict[str, list[RateRow]]) -> str:
    """The most trustworthy layer that has a rate for every model.

    Corrected rates; people's where they have graded nearly everything; the judge's where it has;
    else the automatic one.
    """
    if all(row.rate.low is not None for row in rates.get(CORRECTED, [])) and CORRECTED in rates:
        return CORRECTED
    for layer in (Layer.ADJUDICATED, Layer.HUMAN, Layer.JUDGE):
        rows = rates.get(layer, [])
        graded = sum(row.rate.n for row in rows)
        whole = sum(row.rate.n + row.rate.unscored + row.rate.stale for row in rows)
        if rows and graded >= NEARLY_ALL * whole:
            return str(layer)
    return next(iter(rates))
