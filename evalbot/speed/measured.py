"""The rows of a sweep, from what each of its streams took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.runs import RunEndpoint
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample, Sweep
from evalbot.formats.speed_words import status_of
from evalbot.formats.words import count
from evalbot.speed.asking import MEASURED
from evalbot.stats.quantiles import known, percentile_of_known

NEGLIGIBLE_CACHE = 0.05
"""Share of a prompt that may be cached, as a template's beginning is, and the prompt is new."""


class Cell(NamedTuple):
    """What a row stands for: all repeats of it."""

    context: int
    concurrency: int


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


def is_cached(sample: Sample) -> bool:
    """Whether so much of the prompt came from a cache that its first token tells nothing."""
    cached, prompt = sample.usage.cached_tokens, sample.usage.prompt_tokens
    return bool(cached) and (prompt is None or (cached or 0) > NEGLIGIBLE_CACHE * prompt)


def aggregate_tps(rounds: Iterable[Sequence[Sample]]) -> float | None:
    """Tokens of all streams over the wall time of their rounds (statistics.md, g).

    None where the server does not count its tokens.
    """
    tokens, seconds = 0, 0.0
    for samples in rounds:
        for sample in samples:
            if sample.status in MEASURED:
                if sample.usage.completion_tokens is None:
                    return None
                tokens += sample.usage.completion_tokens
        seconds += wall_s(samples) or 0.0
    return tokens / seconds if tokens and seconds else None


def wall_s(samples: Iterable[Sample]) -> float | None:
    """From the first request of a round to the end of its last stream."""
    sent = [one for one in samples if one.timing.total_ms is not None]
    if not sent:
        return None
    ends = [one.offset_ms + (one.timing.total_ms or 0.0) for one in sent]
    return (max(ends) - min(one.offset_ms for one in sent)) / 1000


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
    status, evidence = _status(samples, whole, fresh, cell, endpoint, asked)
    read = _whole(one.usage.prompt_tokens for one in whole)
    written = _whole(one.usage.completion_tokens for one in whole) if whole else asked
    return SpeedRow(
        label=sweep.label or sweep.id,
        model=endpoint.name,
        hardware=endpoint.hardware,
        source=SpeedSource.EVALBOT,
        test=f"pp{cell.context}+tg{asked} x{cell.concurrency}",
        context_label=str(cell.context),
        context_tokens=cell.context if read is None else read,
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
    samples: Sequence[Sample],
    whole: Sequence[Sample],
    fresh: Sequence[Sample],
    cell: Cell,
    endpoint: RunEndpoint,
    asked: int,
) -> tuple[SpeedStatus, str | None]:
    """What the streams themselves say; how they compare with other rows is said elsewhere."""
    failed = [sample for sample in samples if sample.status not in MEASURED]
    if failed:
        told = _failures(failed, len(samples))
        overflowed = all(one.status is AnswerStatus.CONTEXT_OVERFLOW for one in failed)
        status = SpeedStatus.CONTEXT_OVERFLOW if overflowed else status_of(told)
        if not whole or status is not SpeedStatus.FAILED:
            return status, told
        return SpeedStatus.COLLAPSED if cell.concurrency > 1 else SpeedStatus.SUSPECT, told
    if not fresh:
        return SpeedStatus.CACHED, f"all {len(whole)} prompts came from the server's prompt cache"
    return SpeedStatus.OK, "; ".join(_remarks(whole, fresh, cell, endpoint, asked)) or None


def _remarks(
    whole: Sequence[Sample],
    fresh: Sequence[Sample],
    cell: Cell,
    endpoint: RunEndpoint,
    asked: int,
) -> Iterable[str]:
    if len(fresh) < len(whole):
        yield (
            f"{len(whole) - len(fresh)} of {len(whole)} prompts came from the prompt cache and "
            "are left out of first-token, prefill and aggregate figures"
        )
    if endpoint.slots is not None and cell.concurrency > endpoint.slots:
        yield f"{cell.concurrency} streams for {count(endpoint.slots, 'slot')}: the rest queued"
    prompt = _whole(one.usage.prompt_tokens for one in whole)
    if prompt is not None and prompt != cell.context:
        yield f"prompts of {prompt} tokens: {cell.context} could not be met exactly"
    written = _whole(one.usage.completion_tokens for one in whole)
    if written is not None and written < asked:
        yield f"streams ended after {written} tokens, {asked} were asked for"


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


def _whole(values: Iterable[int | None]) -> int | None:
    middle = percentile_of_known(values, 50)
    return None if middle is None else int(middle)


def _mean(values: Iterable[float | None]) -> float | None:
    there = known(values)
    return sum(there) / len(there) if there else None
