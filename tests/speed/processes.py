"""`evalbot speed` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .site import SpeedSite

ROOT = Path(__file__).parents[2]


class Sweeping:
    """A running `evalbot speed`; `sweep` is the id it told, "" where it told none."""

    def __init__(self, site: SpeedSite, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "evalbot.cli.main", "speed", *arguments,
             "--config", str(site.folder / "evalbot.yaml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "XDG_STATE_HOME": str(site.folder / "state")},
        )  # fmt: skip
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()
        word, _, told = self.first_line.strip().partition(" ")
        self.sweep = told if word == "sweep" else ""

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self.process.communicate()

    def wait(self) -> tuple[int, str, str]:
        """Its exit code, and what it said on stdout and on stderr."""
        table, said = self.process.communicate(timeout=60)
        return self.process.returncode, table, self.first_line + said
