"""An evalbot command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Command:
    """A running `evalbot ARGUMENTS` over the config of a folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "evalbot.cli.main", *arguments,
             "--config", str(folder / "evalbot.yaml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        )  # fmt: skip

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self.process.communicate()

    def ended(self) -> tuple[int, str, str]:
        """Its exit code, and what it said from now on, on stdout and on stderr."""
        out, said = self.process.communicate(timeout=60)
        return self.process.returncode, out, said
