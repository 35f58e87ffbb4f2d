"""Memory stays flat: a run of 100,000 answers beside one of 100."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.site import EVALBOT, instant_server, peak_mib, write_site

CASES, REPEATS = 100, 1_000


def measure(folder: Path) -> Iterator[str]:
    with instant_server() as address:
        write_site(folder, address, CASES, 32)
        small = peak_mib([*EVALBOT, "run", "bench"], folder)
        large = peak_mib([*EVALBOT, "run", "bench", "--repeats", str(REPEATS)], folder)
    yield f"{CASES} answers: {small:.0f} MiB at most"
    yield f"{CASES * REPEATS} answers: {large:.0f} MiB at most, {large - small:.0f} more (goal 150)"
