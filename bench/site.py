"""A folder to run evalbot in, a server to run it against, and the time a process takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

EVALBOT = [sys.executable, "-m", "evalbot.cli.main"]


@dataclass(frozen=True)
class Took:
    """Wall seconds and what was printed on stdout."""

    seconds: float
    output: str


@contextmanager
def instant_server(
    gap: float | None = None, reply: str | None = None, times: int = 1
) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.instant_server"]
    if gap is not None:
        command += ["--gap", str(gap)]
    command += ["--times", str(times)]
    if reply is not None:
        command += ["--reply", reply]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
        server.stdin.close()
        server.stdout.close()


def write_site(folder: Path, address: str, cases: int, concurrency: int) -> None:
    """A config, a suite and the shipped translation rubric's own copy."""
    (folder / "evalbot.yaml").write_text(
        f"endpoints:\n  - {{name: instant, base_url: {address}/v1, concurrency: {concurrency}}}\n",
        encoding="utf-8",
    )
    suite = folder / "datasets/bench"
    suite.mkdir(parents=True)
    (suite / "suite.yaml").write_text(
        "name: bench\ntitle: Bench\ntask: translation\nrubric: translation\n"
        "language: {source: ja, target: zh-Hans}\n",
        encoding="utf-8",
    )
    with (suite / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(cases):
            lines.write(json.dumps(case(number), ensure_ascii=False) + "\n")


def case(number: int) -> dict[str, object]:
    return {
        "key": f"c{number:06}",
        "prompt": f"会議は金曜日の午前十時に始まります。（{number}）",
        "references": [
            "会议在周五上午十点开始。",
            f"会议于星期五上午{number % 11 + 1}点开始。",
            "会议定在周五上午十点召开。",
        ],
    }


def timed(command: Sequence[str], folder: Path, **environment: str) -> Took:
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return Took(seconds, done.stdout)


def peak_mib(command: Sequence[str], folder: Path) -> float:
    """The largest memory of one process, measured by a process of its own around it."""
    script = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=2, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    took = timed([sys.executable, "-c", script, *command], folder)
    return int(took.output.split()[-1]) / 1024
