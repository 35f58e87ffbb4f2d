"""Calling the real command line, as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


def evalbot(
    *arguments: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `evalbot` in a folder; output as text."""
    return subprocess.run(
        [sys.executable, "-m", "evalbot.cli.main", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
