"""Calling the real command line, as a process of its own."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.waiting import LONGEST_S, wait_until


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


def stopped_while_reading(pipe: Path, *arguments: str, folder: Path) -> tuple[int, str, str]:
    """Ctrl-C while `evalbot` reads a file that does not end; its exit code, stdout and stderr."""
    # Ctrl-C is switched off in what was started from the background, as these tests may be.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from evalbot.cli.main import main; main()"
    )
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        writers: list[int] = []

        def is_read() -> bool:
            try:
                writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            except OSError as error:
                if error.errno != errno.ENXIO:  # nobody reads so far
                    raise
            return bool(writers) or process.poll() is not None

        try:
            wait_until(is_read)
            process.send_signal(signal.SIGINT)
            # A signal that comes just before the read would only be seen after it.
            while writers:
                os.close(writers.pop())
            out, said = process.communicate(timeout=LONGEST_S)
        finally:
            process.kill()
            for writer in writers:
                os.close(writer)
    return process.returncode, out, said
