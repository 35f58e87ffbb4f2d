"""`evalbot run` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .site import Site

ROOT = Path(__file__).parents[2]


class Evalbot:
    """A running `evalbot run`; `run` is the id it printed."""

    def __init__(self, site: Site, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "evalbot.cli.main", "run", *arguments,
             "--config", str(site.folder / "evalbot.yaml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "XDG_STATE_HOME": str(site.folder / "state")},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.run = self.process.stdout.readline().strip()

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self.process.communicate()

    def wait(self) -> tuple[int, str]:
        """Its exit code and what it said on stderr."""
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said
