"""The rows of a sweep, from what each of its streams took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.runs import RunEndpoint
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample, Sweep
from evalbot.formats.speed_words import status_of
from evalbot.speed.asking import MEASURED
from evalbot.speed.remarks import doubts, remarks
from evalbot.speed.samples import Cell, aggregate_tps, is_cached, middle_count, wall_s
from evalbot.stats.quantiles import known, percentile_of_known


def measured_rows(
    sweep: Sweep,
    rounds: Mapping[Round, Sequence[Sample]],
    readings: Sequence[MemoryReading] = (),
) -> list[SpeedRow]:
    """A row for each endpoint, prompt length and concurrency measured so far, in that order.

    An endpoint that was given up has a failed row that says why, besides what it has.
    """
    rows = []
    for endpoint in sweep.endpoints:
        cells: dict[Cell, list[Sequence[Sample]]] = {}
        for round_, samples in sorted(rounds.items()):
            if round_.endpoint == endpoint.name:
                cell = Cell(round_.context, round_.concurrency)
                cells.setdefault(cell, []).append(samples)
        rows += [
            _row(sweep, endpoint, cell, repeats, _memory(readings, endpoint.name, cell))
            for cell, repeats in sorted(cells.items())
        ]
        if endpoint.stopped_reason is not None:
            rows.append(_given_up(sweep, endpoint))
    return rows


def _row(
    sweep: Sweep,
    endpoint: RunEndpoint,
    cell: Cell,
    repeats: Sequence[Sequence[Sample]],
    memory_mib: float | None,
) -> SpeedRow:
    assert sweep.plan is not None
    samples = [sample for one in repeats for sample in one]
    whole = [sample for sample in samples if sample.status in MEASURED]
    fresh = [sample for sample in whole if not is_cached(sample)]
    timed = fresh or whole
    uncached = [one for one in repeats if not any(map(is_cached, one))] if fresh else repeats
    walls = known(wall_s(one) for one in uncached)
    asked = sweep.plan.output_tokens
    status, evidence = _status(repeats, whole, fresh, cell, endpoint, asked)
    read = middle_count(one.usage.prompt_tokens for one in whole)
    written = middle_count(one.usage.completion_tokens for one in whole) if whole else asked
    return SpeedRow(
        label=sweep.label or sweep.id,
        model=endpoint.name,
        hardware=endpoint.hardware,
        source=SpeedSource.EVALBOT,
        test=f"pp{cell.context}+tg{asked} x{cell.concurrency}",
        context_label=str(cell.context),
        context_tokens=read,
        output_tokens=written,
        concurrency=cell.concurrency,
        slots=endpoint.slots,
        slot_context=endpoint.slot_context,
        n=len(whole),
        errors=sum(1 for one in samples if one.status not in MEASURED and _was_sent(one)),
        ttfr_ms_p50=percentile_of_known((one.timing.ttfr_ms for one in timed), 50),
        ttft_ms_p50=percentile_of_known((one.timing.ttft_ms for one in timed), 50),
        ttft_ms_p90=percentile_of_known((one.timing.ttft_ms for one in timed), 90),
        ttft_ms_mean=_mean(one.timing.ttft_ms for one in timed),
        ttfot_ms_p50=percentile_of_known((one.timing.ttfot_ms for one in timed), 50),
        ttfot_ms_p90=percentile_of_known((one.timing.ttfot_ms for one in timed), 90),
        prefill_tps_p50=percentile_of_known((one.timing.prefill_tps for one in fresh), 50),
        decode_tps_p50=percentile_of_known((one.timing.decode_tps for one in whole), 50),
        stream_tps_p50=percentile_of_known((one.stream_tps for one in whole), 50),
        aggregate_tps=aggregate_tps(uncached) if whole else None,
        wall_s=sum(walls) / len(walls) if walls and whole else None,
        status=status,
        evidence=evidence,
        timing_source="+".join(sorted({one.timing.source for one in whole} - {"none"})) or None,
        memory_used_mib=memory_mib,
        sweep=sweep.id,
    )


def _status(
    repeats: Sequence[Sequence[Sample]],
    whole: Sequence[Sample],
    fresh: Sequence[Sample],
    cell: Cell,
    endpoint: RunEndpoint,
    asked: int,
) -> tuple[SpeedStatus, str | None]:
    """What the streams themselves say; how they compare with other rows is said elsewhere."""
    samples = [sample for one in repeats for sample in one]
    failed = [sample for sample in samples if sample.status not in MEASURED]
    if failed:
        told = _failures(failed, len(samples))
        overflowed = all(one.status is AnswerStatus.CONTEXT_OVERFLOW for one in failed)
        status = SpeedStatus.CONTEXT_OVERFLOW if overflowed else status_of(told)
        if not whole or status is not SpeedStatus.FAILED:
            return status, told
        return SpeedStatus.COLLAPSED if cell.concurrency > 1 else SpeedStatus.SUSPECT, told
    if not fresh:
        told = f"{'the only prompt' if len(whole) == 1 else f'all {len(whole)} prompts'} came from"
        return SpeedStatus.CACHED, f"{told} the server's prompt cache"
    doubtful = "; ".join(doubts(whole, repeats, asked))
    if doubtful:
        return SpeedStatus.SUSPECT, doubtful
    return SpeedStatus.OK, "; ".join(remarks(whole, fresh, cell, endpoint, asked)) or None


def _failures(failed: Sequence[Sample], of: int) -> str:
    """The most frequent failure in the server's words, and how many failed."""
    words = Counter(f"{one.status}: {one.error_detail or 'no reason given'}" for one in failed)
    [(told, _)] = words.most_common(1)
    if not any(map(_was_sent, failed)):
        return failed[0].error_detail or told
    return told if len(failed) == of == 1 else f"{len(failed)} of {of} requests failed ({told})"


def _was_sent(sample: Sample) -> bool:
    return sample.status is not AnswerStatus.CONTEXT_OVERFLOW or sample.timing.total_ms is not None


def _given_up(sweep: Sweep, endpoint: RunEndpoint) -> SpeedRow:
    return SpeedRow(
        label=sweep.label or sweep.id,
        model=endpoint.name,
        hardware=endpoint.hardware,
        source=SpeedSource.EVALBOT,
        slots=endpoint.slots,
        slot_context=endpoint.slot_context,
        status=status_of(endpoint.stopped_reason or ""),
        evidence=f"given up: {endpoint.stopped_reason}",
        sweep=sweep.id,
    )


def _memory(readings: Sequence[MemoryReading], endpoint: str, cell: Cell) -> float | None:
    """The most memory in use over all devices during the rounds of a cell, in MiB."""
    sums = [
        sum(used)
        for reading in readings
        if reading.moment is Moment.DURING
        and reading.endpoint == endpoint
        and reading.round is not None
        and (reading.round.context, reading.round.concurrency) == cell
        and (used := known(device.used_mib for device in reading.devices))
    ]
    return max(sums, default=None)


def _mean(values: Iterable[float | None]) -> float | None:
    there = known(values)
    return sum(there) / len(there) if there else None
