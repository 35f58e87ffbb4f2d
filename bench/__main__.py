"""`make bench`: every figure of docs/performance.md, and the simulations of docs/statistics.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from bench import (
    audit,
    batch,
    first_token,
    help_time,
    judge,
    memory,
    rescore,
    review,
    simulate,
    speed,
)  # fmt: skip

PARTS = {
    "batch": batch.measure,
    "first-token": first_token.measure,
    "rescore": rescore.measure,
    "help": help_time.measure,
    "memory": memory.measure,
    "speed": speed.measure,
    "judge": judge.measure,
    "review": review.measure,
    "audit": audit.measure,
    "simulate": simulate.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of: {', '.join(PARTS)} (default: all)")
    chosen = parser.parse_args().parts or list(PARTS)
    # The bench's own modules are found from every folder it runs evalbot in.
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    for name in chosen:
        print(f"\n## {name}")
        with tempfile.TemporaryDirectory() as folder:
            for line in PARTS[name](Path(folder)):
                print(line)
                sys.stdout.flush()


if __name__ == "__main__":
    main()
