"""Every error evalbot raises on purpose.

EvalbotError                 a sentence for the user; exit code 1
├── InputError               wrong usage or wrong input; exit code 2
│   ├── ProblemsError        one or more problems found in files, told all at once
│   └── NotFoundError        a run, suite, rubric or endpoint that is not there
├── StoreError               the database cannot be read or written
│   ├── BusyError            another program keeps it locked
│   ├── NeedsUpgradeError    the database was made by another version
│   └── LeaseHeldError       another process works on this run
└── EndpointError            an endpoint cannot be used at all (single answers never raise)

The message tells what is wrong, where, and what to do. The command line and the
web page turn these into that sentence; anything else is a bug and shown as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ALIKE = 3
"""Problems that differ only in their place are told one by one up to so many."""


class EvalbotError(Exception):
    """A failure to be told to the user in one sentence."""

    exit_code = 1


class InputError(EvalbotError):
    """Wrong usage or wrong input: nothing was changed."""

    exit_code = 2


class NotFoundError(InputError):
    """A named thing does not exist."""


class StoreError(EvalbotError):
    """The database cannot be read or written."""


class BusyError(StoreError):
    """Another program has kept the database locked; waiting may help."""


class NeedsUpgradeError(StoreError):
    """The database was made by another version of evalbot."""


class LeaseHeldError(StoreError):
    """Another process is working on this run."""


class EndpointError(EvalbotError):
    """An endpoint cannot be used at all.

    status is what its answers are recorded as: the value of an AnswerStatus.
    """

    def __init__(self, message: str, status: str = "connection") -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a file.

    place: file with line or row, e.g. `cases.jsonl:3`; field: dotted name, or "";
    found and expected: what stands there and what should.
    """

    place: str
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        where = f"{self.place}: {self.field}" if self.field else self.place
        found = f"found {self.found}; " if self.found else ""
        return f"{where}: {found}expected {self.expected}"


class ProblemsError(InputError):
    """All problems found in one go, one line each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        super().__init__("\n".join([f"{head}, nothing was changed:", *self.lines()]))

    def lines(self) -> list[str]:
        """A line each; more than three that differ only in their place share one."""
        alike: dict[tuple[str, str, str], list[Problem]] = {}
        for problem in self.problems:
            key = (problem.field, problem.found, problem.expected)
            alike.setdefault(key, []).append(problem)
        lines: list[str] = []
        for group in alike.values():
            told = group if len(group) <= MOST_ALIKE else group[:1]
            lines += [f"  {problem}" for problem in told]
            if len(told) < len(group):
                last = group[-1].place
                lines[-1] += f" (and {len(group) - 1} times more, the last at {last})"
        return lines
