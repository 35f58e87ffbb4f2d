"""What a table is, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from evalbot.stats.rounding import half_up, percent

DASH = "–"

Value: TypeAlias = str | int | float | Fraction | None
"""A cell. None is undefined or unknown, and never 0."""


class Kind(StrEnum):
    """What a column holds; a rate is a fraction that people read as a percentage."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    RATE = "rate"


@dataclass(frozen=True, slots=True)
class Column:
    """name: in csv and json; title: for people; digits: decimals shown to people."""

    name: str
    title: str
    kind: Kind = Kind.TEXT
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many values as there are columns; notes are small print for people."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()

    def shown_rows(self) -> list[list[str]]:
        """The rows as people read them: rounded, rates as percentages, a dash for None."""
        return [
            [shown(value, column) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def raw_rows(self) -> list[list[str | int | float | None]]:
        """The rows as programs read them, nothing rounded."""
        return [[raw(value) for value in row] for row in self.rows]


def shown(value: Value, column: Column) -> str:
    """A value as people read it; a text stays what it is in any column."""
    if value is None:
        return DASH
    if isinstance(value, str):
        return value
    if column.kind is Kind.RATE:
        return percent(value, column.digits)
    if column.kind is Kind.NUMBER:
        return half_up(value, column.digits).replace("-", "−")
    return str(value)


def raw(value: Value) -> str | int | float | None:
    """A value as programs read it."""
    return float(value) if isinstance(value, Fraction) else value
