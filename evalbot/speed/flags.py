"""Collapse told from slowdown: rows that fall out of line with their neighbours.

A row is held against the one with the fewest streams of the same series: same model,
machine and prompt length. Nothing is said of rows whose number of streams is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.speed.flag_rules import RULES, Flag, first_token_ms, number
from evalbot.speed.samples import SHORTEST_ROUND_S

LOST_WITH_CONTEXT = 0.05
"""Share of a shorter prompt's rate that no longer context explains."""

FEWEST_PREFILL_TOKENS = 64
"""Fewer tokens than this say nothing about prefill speed."""

FEWEST_CHAT_TOKENS = 8
"""A chat has more tokens in its template alone: the rest of such a prompt was cached."""


class _Series(NamedTuple):
    """What must be the same in rows that are held against one another.

    test: where it says more than prompt length and streams.
    """

    sweep: str | None
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
    shorter = _fastest_with_less_context(ok)
    alone = {
        id(row): _read_from_cache(row) or _lost_with_context(row, shorter.get(id(row)))
        for row in ok
    }
    bases = _bases(row for row in ok if alone[id(row)] is None)
    flags = {id(row): _beside(row, bases.get(_series(row))) or alone[id(row)] for row in ok}
    return [_with(row, flags.get(id(row))) for row in rows]


def _beside(row: SpeedRow, base: SpeedRow | None) -> Flag | None:
    if base is None or not row.concurrency or not base.concurrency:
        return None
    if row.concurrency <= base.concurrency or _is_short(row, base):
        return None
    flags = (rule(row, base) for rule in RULES)
    return next((flag for flag in flags if flag is not None), None)


def _is_short(*rows: SpeedRow) -> bool:
    return all(row.wall_s is not None and row.wall_s < SHORTEST_ROUND_S for row in rows)


def _read_from_cache(row: SpeedRow) -> Flag | None:
    tokens = row.context_tokens
    if row.source is not SpeedSource.TABLE or first_token_ms(row) is None:
        return None
    if tokens is None or tokens >= FEWEST_CHAT_TOKENS:
        return None
    return Flag(
        SpeedStatus.CACHED,
        f"a chat of {tokens} tokens is shorter than its own template: the rest came from a "
        "prompt cache",
    )


def _lost_with_context(row: SpeedRow, shorter: SpeedRow | None) -> Flag | None:
    """A rate next to nothing where a shorter prompt of the same model had a real one."""
    now, rate = _own_rate(row), None if shorter is None else _own_rate(shorter)
    if shorter is None or now is None or rate is None or now >= LOST_WITH_CONTEXT * rate:
        return None
    return Flag(
        SpeedStatus.SUSPECT,
        f"{number(now)} tok/s, with {shorter.context_tokens} tokens of context "
        f"{number(rate)}: memory overflow, or a timing that failed",
    )


def _fastest_with_less_context(rows: Iterable[SpeedRow]) -> dict[int, SpeedRow]:
    """For each row, by its identity, the fastest one with a shorter prompt but for that alike."""
    alike: dict[tuple[_Series, int | None], list[SpeedRow]] = {}
    for row in rows:
        if row.context_tokens is not None and _own_rate(row) is not None:
            series = _series(row)._replace(context=None)
            alike.setdefault((series, row.concurrency), []).append(row)
    found: dict[int, SpeedRow] = {}
    for together in alike.values():
        fastest: SpeedRow | None = None
        of_length: list[SpeedRow] = []
        for row in sorted(together, key=lambda one: one.context_tokens or 0):
            if of_length and of_length[0].context_tokens != row.context_tokens:
                fastest = max(filter(None, (fastest, *of_length)), key=lambda r: _own_rate(r) or 0)
                of_length = []
            of_length.append(row)
            if fastest is not None:
                found[id(row)] = fastest
    return found


def _without_small_prefill(row: SpeedRow) -> SpeedRow:
    """A typed prefill rate of a few tokens is no rate (statistics.md, g, trap 2)."""
    tokens, prefill = row.context_tokens, row.prefill_tps_p50
    if row.source is not SpeedSource.TABLE or prefill is None or first_token_ms(row) is None:
        return row
    if tokens is None or tokens >= FEWEST_PREFILL_TOKENS:
        return row
    told = f"prefill of {number(prefill)} tok/s left out: {tokens} tokens are too few for a rate"
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
        sweep=row.sweep,
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


def _own_rate(row: SpeedRow) -> float | None:
    return row.stream_tps_p50 if row.decode_tps_p50 is None else row.decode_tps_p50
