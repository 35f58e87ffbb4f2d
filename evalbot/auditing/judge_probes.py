"""What the probes on record show of a judge, by today's rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.domain.probes import Probe
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.judging.pairs import FIRST, SECOND, TIE
from evalbot.judging.probing import ProbeResult, result_of
from evalbot.judging.variations import ProbeKind
from evalbot.stats.bias import Position, position
from evalbot.store.database import Connection
from evalbot.store.judging import judges_used
from evalbot.store.probes import read_probes


@dataclass(frozen=True, slots=True)
class JudgeProbes:
    """position: of pairs judged in both orders, None without any. results: a line a kind."""

    position: Position | None
    results: tuple[ProbeResult, ...]

    def of(self, kind: ProbeKind) -> ProbeResult | None:
        """The result of one kind, where it was probed."""
        return next((one for one in self.results if one.kind is kind), None)


def probes_of_runs(
    connection: Connection, run_ids: Sequence[str], rubric: Rubric
) -> dict[str, JudgeProbes]:
    """By judge, what its probes on these runs show.

    Probes by another rubric, or of a judge with other settings than its grades have, are left out.
    """
    rule = rubric.fingerprint_for(Layer.JUDGE)
    by_judge: dict[str, dict[ProbeKind, list[Probe]]] = {}
    for run in run_ids:
        probes = [one.probe for one in read_probes(connection, run)]
        used = {(one.name, one.judge) for one in judges_used(connection, run)} if probes else set()
        for probe in probes:
            is_same = (probe.judge, probe.params.get("judge")) in used
            if probe.rubric_fingerprint == rule and is_same:
                kinds = by_judge.setdefault(probe.judge, {})
                kinds.setdefault(ProbeKind(probe.kind), []).append(probe)
    return {judge: _shown(judge, kinds, rubric) for judge, kinds in by_judge.items()}


def _shown(judge: str, kinds: dict[ProbeKind, list[Probe]], rubric: Rubric) -> JudgeProbes:
    wavering: float | None = None
    results = []
    for kind in ProbeKind:
        if kind in kinds:
            result = result_of(judge, kind, kinds[kind], rubric, wavering)
            if kind is ProbeKind.REPEAT:
                wavering = result.flip_rate
            results.append(result)
    return JudgeProbes(_position(kinds.get(ProbeKind.SWAP, [])), tuple(results))


def _position(swaps: Sequence[Probe]) -> Position | None:
    """The same winner both ways, always what is shown first, always what is second.

    One order won and the other tied is neither: the orders disagree.
    """
    pairs = [(one.before, one.after) for one in swaps if one.after is not None]
    if not pairs:
        return None
    first = pairs.count((FIRST, FIRST))
    second = pairs.count((SECOND, SECOND))
    half = sum(one != other and TIE in (one, other) for one, other in pairs)
    return position(len(pairs) - first - second - half, first, second, half)
