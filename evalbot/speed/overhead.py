"""What measuring costs beside what is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Overhead:
    """Seconds of one sweep.

    rounds_s: the rounds, from the first request sent to the last byte received. cpu_s: this
    process's own processor time in them. total_s: the whole sweep, so that the rest went into
    starting servers, making prompts, warming up and recording, while nothing was measured.
    """

    rounds_s: float = 0.0
    cpu_s: float = 0.0
    total_s: float = 0.0

    @property
    def cpu_share(self) -> float | None:
        """How much of one core evalbot itself used while measuring; None before any round."""
        return self.cpu_s / self.rounds_s if self.rounds_s else None
