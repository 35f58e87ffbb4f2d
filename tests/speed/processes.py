"""`evalbot speed` as a process of its own."""

from __future__ import annotations

from tests.processes import Command

from .site import SpeedSite


class Sweeping(Command):
    """A running `evalbot speed`; `sweep` is the id it told, "" where it told none."""

    def __init__(self, site: SpeedSite, *arguments: str) -> None:
        super().__init__(site.folder, "speed", *arguments)
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()
        word, _, told = self.first_line.strip().partition(" ")
        self.sweep = told if word == "sweep" else ""

    def wait(self) -> tuple[int, str, str]:
        """Its exit code, and what it said on stdout and on stderr."""
        code, table, said = self.ended()
        return code, table, self.first_line + said
