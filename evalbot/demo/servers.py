"""Starting and stopping the demo's llama.cpp servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evalbot.errors import EvalbotError

CONTEXT = 4096
SLOTS = 4
LONGEST_FAREWELL_S = 10.0


@dataclass(frozen=True, slots=True)
class DemoModel:
    """A model file and the name its server calls it by."""

    path: Path
    alias: str


@contextmanager
def serving(models: Sequence[DemoModel], logs: Path) -> Iterator[list[str]]:
    """The models' server addresses, in order; the servers end with the block, whatever happens.

    They share the processor's cores evenly: more threads than cores slow each other down.
    """
    threads = max(1, (os.cpu_count() or 1) // len(models))
    processes: list[subprocess.Popen[str]] = []
    try:
        for model in models:
            processes.append(_start(model, logs / f"{model.alias}.log", threads))
        yield [
            _address(process, model, logs) for process, model in zip(processes, models, strict=True)
        ]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            _end(process)


def _start(model: DemoModel, log: Path, threads: int) -> subprocess.Popen[str]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "evalbot.demo.server", str(model.path), model.alias,
             str(CONTEXT), str(SLOTS), str(threads)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            start_new_session=True,
        )  # fmt: skip


def _address(process: subprocess.Popen[str], model: DemoModel, logs: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise EvalbotError(
            f"the demo's server for {model.alias} did not start; see {logs / model.alias}.log"
        )
    return line


def _end(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(LONGEST_FAREWELL_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
