"""(a) 1,000 short streamed answers at 32 at once: evalbot beside a bare script and others."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.site import EVALBOT, instant_server, timed, write_site

COUNT, AT_ONCE, ROUNDS = 1_000, 32, 5


def measure(folder: Path) -> Iterator[str]:
    with instant_server() as address:
        write_site(folder, address, COUNT, AT_ONCE)
        bare_command = [sys.executable, str(Path(__file__).with_name("bare.py")), address,
                        str(COUNT), str(AT_ONCE)]  # fmt: skip
        bare, ours = [], []
        for _ in range(ROUNDS):
            bare.append(timed(bare_command, folder).seconds)
            ours.append(timed([*EVALBOT, "run", "bench"], folder).seconds)
        imports = timed([sys.executable, "-c", "import aiohttp"], folder).seconds
        our_imports = timed([sys.executable, "-c", IMPORTS], folder).seconds
        yield f"bare aiohttp script: {min(bare):.2f} s (best of {ROUNDS}), imports {imports:.2f} s"
        yield f"evalbot run:         {min(ours):.2f} s, imports {our_imports:.2f} s"
        whole = min(ours) / min(bare)
        after = (min(ours) - our_imports) / (min(bare) - imports)
        yield f"ratio: {whole:.2f} whole (goal 3), {after:.2f} after imports (goal 2.5)"
        yield from _promptfoo(folder, address, min(ours))


IMPORTS = (
    "import aiohttp, evalbot.cli.run, evalbot.running.runner, evalbot.running.prepare, "
    "evalbot.store.database, evalbot.cli.progress, evalbot.reporting.rate_table, "
    "evalbot.reporting.rates"
)


def _promptfoo(folder: Path, address: str, ours: float) -> Iterator[str]:
    if shutil.which("promptfoo") is None:
        yield "promptfoo: not installed"
        return
    # Asks, scores and stores, as evalbot does; it does not stream.
    reference = {"type": "levenshtein", "value": "会议在周五上午十点开始。", "threshold": 5}
    tests = [{"vars": {"n": number}, "assert": [reference]} for number in range(COUNT)]
    config = {
        "prompts": ["翻訳してください {{n}}"],
        "providers": [
            {
                "id": "openai:chat:instant",
                "config": {"apiBaseUrl": f"{address}/v1", "apiKey": "none"},
            }
        ],
        "tests": tests,
    }
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    command = ["promptfoo", "eval", "-c", str(path), "-j", str(AT_ONCE), "--no-cache",
               "--no-progress-bar", "--no-table"]  # fmt: skip
    seconds = timed(command, folder, PROMPTFOO_CONFIG_DIR=str(folder)).seconds
    yield f"promptfoo: {seconds:.2f} s; evalbot takes {ours / seconds:.2f} of it (goal 0.17)"
