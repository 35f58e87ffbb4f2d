"""Rules that hold a row against one with fewer streams of the same series.

Whatever a server does, it can always serve its streams one after another; that is what
each rule rests on. The thresholds are in docs/speed.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.stats.rounding import half_up, percent

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

COLD_START_MS = 5000.0
"""A first token later than this is time spent reading a prompt, not a slow first request."""

USUAL_TIMEOUT_MS = 300_000.0
"""Most clients give up after five minutes of silence."""


@dataclass(frozen=True, slots=True)
class Flag:
    """What is wrong with a row, and the figures that show it."""

    status: SpeedStatus
    evidence: str


def _aggregate_collapsed(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, before = row.aggregate_tps, base.aggregate_tps
    if now is None or not before or now >= COLLAPSED_AGGREGATE * before:
        return None
    return Flag(
        SpeedStatus.COLLAPSED,
        f"all streams together gave {number(now)} tok/s, {_streams(base)} gave "
        f"{number(before)}: slowdown keeps at least {percent(COLLAPSED_AGGREGATE, 0)} of that",
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
        f"each stream got {number(now)} tok/s, an even share of {_streams(base)}'s rate is "
        f"{number(fair)}"
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
        f"took {number(row.wall_s)} s, {half_up(longer, 1)} times as long as its streams one "
        f"after another ({_streams(base)} took {number(base.wall_s)} s)",
    )


def _first_token_too_early(row: SpeedRow, base: SpeedRow) -> Flag | None:
    if row.source is SpeedSource.EVALBOT and row.timing_source == "server":
        return None  # such servers tell what they cached, and it was looked at
    now, alone = first_token_ms(row), first_token_ms(base)
    if now is None or alone is None or now >= TOO_EARLY * alone or alone - now < LEAST_LEAD_MS:
        return None
    told = f"first token after {number(now, 0)} ms, with {_streams(base)} {number(alone, 0)} ms"
    if now < FAR_TOO_EARLY * alone and alone >= COLD_START_MS:
        return Flag(SpeedStatus.CACHED, f"{told}: prompts came from a prompt cache")
    return Flag(SpeedStatus.SUSPECT, f"{told}: cached prompts here, or a slow first request there")


def _first_token_too_late(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, alone = first_token_ms(row), first_token_ms(base)
    if now is None or not alone or now - alone < LEAST_LEAD_MS:
        return None
    times = now / (alone * _ratio(row, base))
    if times <= LATER_THAN_IN_TURNS or _may_have_queued(now, row, base):
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"first token after {number(now, 0)} ms, {half_up(times, 1)} times as late as if all "
        f"prompts were read one after another ({_streams(base)}: {number(alone, 0)} ms)",
    )


def _may_have_queued(came_ms: float, row: SpeedRow, base: SpeedRow) -> bool:
    """Streams without a slot wait until others have written all they write."""
    if row.slots is not None and (row.concurrency or 0) <= row.slots:
        return False
    return base.wall_s is not None and came_ms <= 1000 * base.wall_s * _ratio(row, base)


def _beyond_timeouts(row: SpeedRow, base: SpeedRow) -> Flag | None:
    now, alone = first_token_ms(row), first_token_ms(base)
    if now is None or alone is None or not alone < USUAL_TIMEOUT_MS <= now:
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"first token after {number(now, 0)} ms, later than the {USUAL_TIMEOUT_MS / 1000:g} s "
        f"after which most clients give up ({_streams(base)}: {number(alone, 0)} ms)",
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


def _ratio(row: SpeedRow, base: SpeedRow) -> float:
    """How many times the base's streams the row has."""
    return (row.concurrency or 1) / (base.concurrency or 1)


def _times_in_turns(row: SpeedRow, base: SpeedRow) -> float | None:
    if row.wall_s is None or not base.wall_s:
        return None
    return row.wall_s / (base.wall_s * _ratio(row, base))


def first_token_ms(row: SpeedRow) -> float | None:
    """The mean where there is one: of a few streams it hides the late ones less."""
    return row.ttft_ms_p50 if row.ttft_ms_mean is None else row.ttft_ms_mean


def _streams(row: SpeedRow) -> str:
    return "one stream" if row.concurrency == 1 else f"{row.concurrency} streams"


def number(value: float | None, digits: int = 1) -> str:
    """A figure as evidence tells it; a dash for what is not known."""
    return "–" if value is None else half_up(value, digits)
