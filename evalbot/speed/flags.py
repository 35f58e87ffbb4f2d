"""Collapse told from slowdown: rows that fall out of line with their neighbours.

A row is held against the one with the fewest streams of the same series: same model,
machine and prompt length. Whatever a server does, it can always serve its streams one
after another; that is what each rule rests on. So nothing is said of rows whose number of
streams is not known. The thresholds are in docs/speed.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.stats.rounding import half_up

COLLAPSED_AGGREGATE = 0.25
"""Share of what fewer streams gave together: more of them never give less, but for overhead."""

STARVED_STREAM = 0.1
"""Share of the rate that each stream would have, were the one stream's rate shared evenly."""

SLOWER_THAN_IN_TURNS = 1.5
"""Times as long as the same streams would take one after another."""

LATER_THAN_IN_TURNS = 3.0
"""Times as late a first token as if all prompts were read one after another before it."""

TOO_EARLY = 0.8
"""Share of one stream's time to first token: more streams never get theirs sooner..."""

FAR_TOO_EARLY = 0.5
"""...and with less than half, most prompts cannot have been read."""

LEAST_LEAD_MS = 100.0
"""A smaller lead is noise."""

SHORTEST_ROUND_S = 0.5
"""In shorter rounds a hiccup of the machine weighs more than what is measured."""

COLD_START_MS = 5000.0
"""A first token later than this is time spent reading a prompt, not a slow first request."""

USUAL_TIMEOUT_MS = 300_000.0
"""Most clients give up after five minutes of silence."""

LOST_WITH_CONTEXT = 0.05
"""Share of a shorter prompt's rate that no longer context explains."""

FEWEST_PREFILL_TOKENS = 64
"""Fewer tokens than this say nothing about prefill speed."""

FEWEST_CHAT_TOKENS = 8
"""A chat has more tokens in its template alone: the rest of such a prompt was cached."""


@dataclass(frozen=True, slots=True)
class Flag:
    """What is wrong with a row, and the figures that show it."""

    status: SpeedStatus
    evidence: str


class _Series(NamedTuple):
    """What must be the same in rows that are held against one another.

    test: where it says more than prompt length and streams.
    """

    label: str | None
    model: str
    hardware: str | None
    memory: str | None
    backend: str | None
    context: str | None
    output_tokens: int | None
    test: str | None


def flagged(rows: Sequence[SpeedRow]) -> list[SpeedRow]:
    """The rows of one sweep or import, those out of line flagged with the evidence.

    Only rows that are ok so far are judged, and only rows that stay so are what others are
    held against: flagging twice is flagging once.
    """
    rows = [_without_small_prefill(row) for row in rows]
    ok = [row for row in rows if row.status is SpeedStatus.OK]
    alone = {id(row): _read_from_cache(row) or _lost_with_context(row, ok) for row in ok}
    bases = _bases(row for row in ok if alone[id(row)] is None)
    flags = {id(row): _beside(row, bases.get(_series(row))) or alone[id(row)] for row in ok}
    return [_with(row, flags.get(id(row))) for row in rows]


def _beside(row: SpeedRow, base: SpeedRow | None) -> Flag | None:
    if base is None or not row.concurrency or not base.concurrency:
        return None
    if row is base or row.concurrency < base.concurrency or _is_short(row, base):
        return None
    flags = (rule(row, base) for rule in RULES)
    return next((flag for flag in flags if flag is not None), None)


def _is_short(*rows: SpeedRow) -> bool:
    return all(row.wall_s is not None and row.wall_s < SHORTEST_ROUND_S for row in rows)


def _aggregate_collapsed(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, before = row.aggregate_tps, base.aggregate_tps
    if now is None or not before or now >= COLLAPSED_AGGREGATE * before:
        return None
    return Flag(
        SpeedStatus.COLLAPSED,
        f"all streams together gave {_number(now)} tok/s, {_streams(base)} gave "
        f"{_number(before)}: slowdown keeps at least {COLLAPSED_AGGREGATE:.0%} of that",
    )


def _streams_starved(row: SpeedRow, base: SpeedRow) -> Flag | None:
    """Waiting for the others' prompts makes streams slow too, but not the whole round."""
    now, alone = row.stream_tps_p50, base.stream_tps_p50 or base.decode_tps_p50
    if now is None or not alone:
        return None
    fair = alone / _ratio(row, base)
    if now >= STARVED_STREAM * fair:
        return None
    longer = _times_in_turns(row, base)
    if longer is not None and longer <= SLOWER_THAN_IN_TURNS:
        return None
    told = (
        f"each stream got {_number(now)} tok/s, an even share of {_streams(base)}'s rate is "
        f"{_number(fair)}"
    )
    if longer is None:
        return Flag(SpeedStatus.SUSPECT, f"{told}; how long the round took is not known")
    return Flag(
        SpeedStatus.COLLAPSED,
        f"{told}, and the round took {half_up(longer, 1)} times as long as its streams one after "
        "another",
    )


def _slower_than_in_turns(row: SpeedRow, base: SpeedRow) -> Flag | None:
    longer = _times_in_turns(row, base)
    if longer is None or longer <= SLOWER_THAN_IN_TURNS:
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"took {_number(row.wall_s)} s, {half_up(longer, 1)} times as long as its streams one "
        f"after another ({_streams(base)} took {_number(base.wall_s)} s)",
    )


def _first_token_too_early(row: SpeedRow, base: SpeedRow) -> Flag | None:
    if row.source is SpeedSource.EVALBOT and row.timing_source == "server":
        return None  # such servers tell what they cached, and it was looked at
    now, alone = _first_token_ms(row), _first_token_ms(base)
    if now is None or alone is None or now >= TOO_EARLY * alone or alone - now < LEAST_LEAD_MS:
        return None
    told = f"first token after {_number(now, 0)} ms, with {_streams(base)} {_number(alone, 0)} ms"
    if now < FAR_TOO_EARLY * alone and alone >= COLD_START_MS:
        return Flag(SpeedStatus.CACHED, f"{told}: prompts came from a prompt cache")
    return Flag(SpeedStatus.SUSPECT, f"{told}: cached prompts here, or a slow first request there")


def _first_token_too_late(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, alone = _first_token_ms(row), _first_token_ms(base)
    if now is None or not alone or now - alone < LEAST_LEAD_MS:
        return None
    times = now / (alone * _ratio(row, base))
    if times <= LATER_THAN_IN_TURNS:
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"first token after {_number(now, 0)} ms, {half_up(times, 1)} times as late as if all "
        f"prompts were read one after another ({_streams(base)}: {_number(alone, 0)} ms)",
    )


def _beyond_timeouts(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, alone = _first_token_ms(row), _first_token_ms(base)
    if now is None or alone is None or not alone < USUAL_TIMEOUT_MS <= now:
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"first token after {_number(now, 0)} ms, later than the {USUAL_TIMEOUT_MS / 1000:g} s "
        f"after which most clients give up ({_streams(base)}: {_number(alone, 0)} ms)",
    )


RULES: tuple[Callable[[SpeedRow, SpeedRow], Flag | None], ...] = (
    _aggregate_collapsed,
    _streams_starved,
    _first_token_too_early,
    _first_token_too_late,
    _slower_than_in_turns,
    _beyond_timeouts,
)
"""In this order; the first that speaks is told."""


def _read_from_cache(row: SpeedRow) -> Flag | None:
    tokens = row.context_tokens
    if row.source is not SpeedSource.TABLE or _first_token_ms(row) is None:
        return None
    if tokens is None or tokens >= FEWEST_CHAT_TOKENS:
        return None
    return Flag(
        SpeedStatus.CACHED,
        f"a chat of {tokens} tokens is shorter than its own template: the rest came from a "
        "prompt cache",
    )


def _lost_with_context(row: SpeedRow, ok: Iterable[SpeedRow]) -> Flag | None:
    """A rate next to nothing where a shorter prompt of the same model had a real one."""
    now = _own_rate(row)
    if now is None or row.context_tokens is None:
        return None
    for other in ok:
        same = _series(row)._replace(context=None) == _series(other)._replace(context=None)
        rate = _own_rate(other)
        if not same or rate is None or other.concurrency != row.concurrency:
            continue
        shorter = other.context_tokens is not None and other.context_tokens < row.context_tokens
        if shorter and now < LOST_WITH_CONTEXT * rate:
            return Flag(
                SpeedStatus.SUSPECT,
                f"{_number(now)} tok/s, with {other.context_tokens} tokens of context "
                f"{_number(rate)}: memory overflow, or a timing that failed",
            )
    return None


def _without_small_prefill(row: SpeedRow) -> SpeedRow:
    """A typed prefill rate of a few tokens is no rate (statistics.md, g, trap 2)."""
    tokens, prefill = row.context_tokens, row.prefill_tps_p50
    if row.source is not SpeedSource.TABLE or prefill is None or _first_token_ms(row) is None:
        return row
    if tokens is None or tokens >= FEWEST_PREFILL_TOKENS:
        return row
    told = f"prefill of {_number(prefill)} tok/s left out: {tokens} tokens are too few for a rate"
    return replace(row, prefill_tps_p50=None, evidence=_joined(row.evidence, told))


def _bases(rows: Iterable[SpeedRow]) -> dict[_Series, SpeedRow]:
    """The row with the fewest streams of each series."""
    bases: dict[_Series, SpeedRow] = {}
    for row in rows:
        if row.concurrency:
            base = bases.setdefault(_series(row), row)
            if row.concurrency < (base.concurrency or 0):
                bases[_series(row)] = row
    return bases


def _series(row: SpeedRow) -> _Series:
    context = row.context_label or (None if row.context_tokens is None else str(row.context_tokens))
    output_tokens, test = row.output_tokens, None
    if row.source is SpeedSource.EVALBOT and row.test:
        # What was to be written, not what was: a server that breaks down writes less.
        rest = row.test.removeprefix(f"pp{row.context_label}").removesuffix(f" x{row.concurrency}")
        output_tokens, test = None, rest
    elif row.source is SpeedSource.VLLM_BENCH or context is None:
        test = row.test
    return _Series(
        label=row.label,
        model=row.model,
        hardware=row.hardware,
        memory=row.memory,
        backend=row.backend,
        context=context,
        output_tokens=output_tokens,
        test=test,
    )


def _with(row: SpeedRow, flag: Flag | None) -> SpeedRow:
    if flag is None:
        return row
    return replace(row, status=flag.status, evidence=_joined(row.evidence, flag.evidence))


def _joined(*parts: str | None) -> str:
    return "; ".join(part for part in parts if part)


def _ratio(row: SpeedRow, base: SpeedRow) -> float:
    """How many times the base's streams the row has."""
    return (row.concurrency or 1) / (base.concurrency or 1)


def _times_in_turns(row: SpeedRow, base: SpeedRow) -> float | None:
    if row.wall_s is None or not base.wall_s:
        return None
    return row.wall_s / (base.wall_s * _ratio(row, base))


def _first_token_ms(row: SpeedRow) -> float | None:
    return row.ttft_ms_p50 if row.ttft_ms_mean is None else row.ttft_ms_mean


def _own_rate(row: SpeedRow) -> float | None:
    return row.stream_tps_p50 if row.decode_tps_p50 is None else row.decode_tps_p50


def _streams(row: SpeedRow) -> str:
    return "one stream" if row.concurrency == 1 else f"{row.concurrency} streams"


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else half_up(value, digits)
