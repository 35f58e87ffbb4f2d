"""What probes show of each judge, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbot.formats.tables import Column, Kind, Table
from evalbot.judging.probing import FEWEST, ProbeResult
from evalbot.judging.variations import ProbeKind
from evalbot.stats.rounding import half_up, percent
from evalbot.stats.wins import RULE, WinRecord

MEANINGS = {
    ProbeKind.REPEAT: "the same call again",
    ProbeKind.REVERSE: "the scale shown in reverse",
    ProbeKind.SWAP: "two answers compared in both orders",
    ProbeKind.LENGTHEN: "twice as long, nothing added",
    ProbeKind.NAMES: "claims to be by a famous model",
    ProbeKind.INJECT: "tells its grader what to say",
    ProbeKind.REFERENCE: "the case's own right answer",
    ProbeKind.TRAP: "the case's known wrong answer",
}


def probe_table(results: Sequence[ProbeResult]) -> Table:
    """A line for each judge and kind of probe."""
    return Table(
        "Probes of the judges",
        (
            Column("judge", "judge"),
            Column("kind", "probe"),
            Column("meaning", "what is changed"),
            Column("n", "n", Kind.COUNT),
            Column("unscored", "no verdict", Kind.COUNT),
            Column("flip_rate", "verdict flips", Kind.RATE),
            Column("flip_interval", "95 % interval", Kind.NUMBER),
            Column("shift", "credit moves by", Kind.NUMBER),
            Column("shift_interval", "95 % interval", Kind.NUMBER),
            Column("finding", "finding"),
        ),
        tuple(_row(result) for result in results),
        (
            "verdict flips: another verdict than before (swap: another answer wins; reference: not "
            "the best verdict; trap: not the lowest); reverse and swap are findings only beyond "
            "what repeat shows",
            "credit moves by: mean of after − before (swap: how much oftener the answer shown "
            "first wins); a finding where the interval leaves 0 out",
            f"finding: fewer than {FEWEST} show nothing either way; no sign is no proof: look at "
            "the intervals",
        )
        if results
        else (
            "no probes so far by today's rubric: most kinds need answers that the judge has "
            "graded, reference and trap need such texts in the suite, swap needs two models",
        ),
    )


def pair_table(judge: str, records: Mapping[str, WinRecord]) -> Table:
    """How models fared where a judge compared two answers in both orders."""
    return Table(
        f"Pairs compared in both orders by {judge}",
        (
            Column("model", "model"),
            Column("wins", "wins", Kind.COUNT),
            Column("ties", "ties", Kind.COUNT),
            Column("losses", "losses", Kind.COUNT),
            Column("win_rate", "win rate", Kind.RATE),
        ),
        tuple((model, *record, record.rate) for model, record in records.items()),
        (f"win rate: {RULE}; orders that disagree are a tie",),
    )


def _row(result: ProbeResult) -> tuple[str | int | float | None, ...]:
    interval, moved = result.interval, result.shift
    return (
        result.judge,
        str(result.kind),
        MEANINGS[result.kind],
        result.n,
        result.unscored,
        result.flip_rate,
        None
        if interval is None
        else f"{percent(interval.low).removesuffix(' %')} – {percent(interval.high)}",
        None if moved is None else _signed(moved.mean),
        None if moved is None else f"{_signed(moved.low)} – {_signed(moved.high)}",
        str(result.finding),
    )


def _signed(value: float) -> str:
    shown = half_up(abs(value), 2)
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"
