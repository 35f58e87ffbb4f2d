"""How fast the models of a run were: medians over their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from evalbot.auditing.gathering import AuditedAnswer


class Speeds:
    """Medians over a run's answers, by model."""

    def __init__(self, answers: Sequence[AuditedAnswer]) -> None:
        self._decode: dict[str, list[float]] = defaultdict(list)
        self._first: dict[str, list[float]] = defaultdict(list)
        for answer in answers:
            row = answer.row
            if row.decode_tps is not None:
                self._decode[row.endpoint].append(row.decode_tps)
            if row.ttfot_ms is not None:
                self._first[row.endpoint].append(row.ttfot_ms)

    def decode_tps(self, model: str) -> float | None:
        """Tokens per second while writing."""
        return median(self._decode[model]) if self._decode.get(model) else None

    def ttfot_ms(self, model: str) -> float | None:
        """Until the first token that can be read."""
        return median(self._first[model]) if self._first.get(model) else None
