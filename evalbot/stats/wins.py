"""Wins, ties and losses of pairwise comparisons; a tie counts half."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

RULE = "ties count half"
"""Which rule a win rate goes by: without ties, one who seldom wins and never loses ranks last."""


class WinRecord(NamedTuple):
    """How one model fared against the others."""

    wins: int
    ties: int
    losses: int

    @property
    def rate(self) -> float | None:
        """(wins + ties / 2) / pairs; None without pairs."""
        pairs = self.wins + self.ties + self.losses
        return (self.wins + self.ties / 2) / pairs if pairs else None


class Pair(NamedTuple):
    """Two models that were compared; winner: one of them, or None for a tie."""

    one: str
    other: str
    winner: str | None


def win_records(pairs: Iterable[Pair]) -> dict[str, WinRecord]:
    """Each model's record, best rate first."""
    found: dict[str, WinRecord] = {}
    for pair in pairs:
        for name, rival in ((pair.one, pair.other), (pair.other, pair.one)):
            wins, ties, losses = found.get(name, WinRecord(0, 0, 0))
            found[name] = WinRecord(
                wins + (pair.winner == name),
                ties + (pair.winner is None),
                losses + (pair.winner == rival),
            )
    return dict(sorted(found.items(), key=lambda item: (-(item[1].rate or 0.0), item[0])))
