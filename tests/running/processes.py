"""`evalbot run` as a process of its own."""

from __future__ import annotations

from tests.processes import Command

from .site import Site


class Evalbot(Command):
    """A running `evalbot run`; `run` is the id it printed."""

    def __init__(self, site: Site, *arguments: str) -> None:
        super().__init__(site.folder, "run", *arguments)
        assert self.process.stdout is not None
        self.run = self.process.stdout.readline().strip()

    def wait(self) -> tuple[int, str]:
        """Its exit code and what it said on stderr."""
        code, _, said = self.ended()
        return code, said
