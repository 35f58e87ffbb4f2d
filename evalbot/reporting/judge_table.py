"""What judging took and brought, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalbot.formats.tables import Column, Kind, Table
from evalbot.judging.totals import Totals


def totals_table(totals: Sequence[Totals]) -> Table:
    """A line a judge: calls, verdicts, tokens read, read from a cache and written, cost."""
    return Table(
        "Judging",
        (
            Column("judge", "judge"),
            Column("asked", "calls", Kind.COUNT),
            Column("verdicts", "verdicts", Kind.COUNT),
            Column("unscored", "unscored", Kind.COUNT),
            Column("prompt_tokens", "tokens read", Kind.COUNT),
            Column("cached_tokens", "of these cached", Kind.COUNT),
            Column("completion_tokens", "written", Kind.COUNT),
            Column("cost_usd", "cost USD", Kind.NUMBER, 4),
        ),
        tuple(
            (
                one.judge,
                one.asked,
                one.verdicts,
                one.asked - one.verdicts,
                one.prompt_tokens,
                one.cached_tokens,
                one.completion_tokens,
                one.cost_usd,
            )
            for one in totals
        ),
        tuple(_notes(totals)),
    )


def _notes(totals: Iterable[Totals]) -> Iterable[str]:
    for one in totals:
        name = one.judge
        if one.reasons:
            yield f"{name}: unscored: {_counted(one.reasons)} (evalbot show tells each one's words)"
        if one.flags:
            yield f"{name}: flagged, verdicts stand: {_counted(one.flags)}"
        if one.dropped:
            yield f"{name}: its provider refuses {', '.join(sorted(one.dropped))}: left out"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
