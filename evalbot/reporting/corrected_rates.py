"""The corrected layer: each model's judge rate, human rate and corrected rate side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalbot.auditing.corrected import CorrectedModel, corrected_models
from evalbot.auditing.gathering import gather_runs
from evalbot.auditing.sampled import sample_of
from evalbot.auditing.scores import judge_meant
from evalbot.domain.runs import Run
from evalbot.grading.basis import Basis
from evalbot.reporting.rate_rows import RateRow
from evalbot.store.database import Connection

LAYER = "corrected"


def corrected_rows(
    connection: Connection, run: Run, basis: Basis, rows: Sequence[RateRow], judge: str | None
) -> list[RateRow]:
    """The judge's rows of a run, corrected; best first, models without a rate last."""
    gathered = gather_runs(connection, {run.id: (run, basis)})
    sample = sample_of(connection, run.id, {one.row.id: one.row for one in gathered.answers})
    name = judge_meant(gathered, judge)
    found = {one.model: one for one in corrected_models(gathered, name, sample)}
    reasons = {one.corrected.reason for one in found.values()}
    shared = reasons.pop() if len(reasons) == 1 else None
    made = [_row(row, name, found[row.model], shared) for row in rows if row.model in found]
    return sorted(made, key=_order)


def _row(row: RateRow, judge: str, found: CorrectedModel, shared: str | None) -> RateRow:
    """shared: why, where it is the same for all models."""
    corrected = found.corrected
    rate = replace(
        row.rate,
        rate=corrected.rate,
        low=corrected.low,
        high=corrected.high,
        rate_min=None,
        rate_max=None,
        counts={},
        repeat_change=None,
    )
    notes = [*row.notes, *found.notes]
    if shared is not None:
        notes.append(f"no corrected rate or interval: {shared}")
    elif corrected.reason is not None:
        notes.append(f"{row.model}: {corrected.reason}")
    return replace(
        row, layer=LAYER, rate=rate, corrected=found, notes=tuple(notes),
        signature=_signature(row.signature, judge, found), letters=None,
    )  # fmt: skip


def _signature(signature: str, judge: str, found: CorrectedModel) -> str:
    """The judge's, with how the sample was drawn and which interval stands there."""
    parts = []
    for part in signature.split("|"):
        if part.startswith("layer:"):
            parts.append(f"layer:{LAYER}")
        elif part.startswith("judge:"):
            parts.append(f"judge:{judge}")
        elif part.startswith("ci:"):
            parts.append(f"reviewed:{found.corrected.human_n}/{found.judged}")
            which = "" if found.sample is None else f"/{found.sample[:8]}"
            parts.append(f"drawn:{found.policy or 'none'}{which}")
            parts.append(f"ci:{found.corrected.interval or 'none'}")
        else:
            parts.append(part)
    return "|".join(parts)


def _order(row: RateRow) -> tuple[bool, float]:
    rate = row.rate.rate
    if rate is None:
        return (True, 0.0)
    return (False, rate if row.rubric.rate.direction == "lower" else -rate)
