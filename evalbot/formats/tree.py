"""What a YAML, JSON or table file says, before its fields' types are known.

All formats become one tree of texts with line numbers. A text keeps the way it was
written: `1.10` and `off` are those characters, whatever YAML would make of them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Scalar(NamedTuple):
    """One value as it was written. quoted: certainly text. boolean: a JSON true or false."""

    text: str
    line: int
    quoted: bool = False
    boolean: bool = False

    @property
    def is_null(self) -> bool:
        """Whether nothing stands here."""
        return not self.quoted and self.text in NULLS


class Items(NamedTuple):
    """A list."""

    values: tuple[Node, ...]
    line: int


class Entries(NamedTuple):
    """A mapping; its keys are unique."""

    values: dict[str, Node]
    line: int


Node: TypeAlias = Scalar | Items | Entries
