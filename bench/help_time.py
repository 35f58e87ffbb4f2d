"""(d) How long `evalbot --help` takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.site import EVALBOT, timed

ROUNDS = 7


def measure(folder: Path) -> Iterator[str]:
    times = sorted(timed([*EVALBOT, "--help"], folder).seconds for _ in range(ROUNDS))
    yield f"evalbot --help: median {times[ROUNDS // 2]:.2f} s of {ROUNDS} (goal 0.4)"
