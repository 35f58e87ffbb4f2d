"""(b) What evalbot adds to the time to first token, at 4 streams.

The server's tokens are the moments at which it wrote them; both clocks are this machine's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles

from bench.site import EVALBOT, instant_server, timed, write_site

COUNT, AT_ONCE, GAP_S = 400, 4, 0.02


def measure(folder: Path) -> Iterator[str]:
    with instant_server(GAP_S) as address:
        write_site(folder, address, COUNT, AT_ONCE)
        timed([*EVALBOT, "run", "bench"], folder)
    with closing(sqlite3.connect(folder / "evalbot.db")) as connection:
        rows = connection.execute("SELECT text, started_at, ttft_ms FROM answers").fetchall()
    added = [
        1000 * (datetime.fromisoformat(started).timestamp() - float(text.split()[0])) + ttft_ms
        for text, started, ttft_ms in rows
    ]
    p95 = quantiles(added, n=20)[-1]
    yield f"{len(added)} answers: median {median(added):.2f} ms, p95 {p95:.2f} ms (goal 2)"
