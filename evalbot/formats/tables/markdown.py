"""Markdown whose columns also line up in a terminal."""

from __future__ import annotations

import re
import unicodedata

from evalbot.formats.tables.table import Kind, Table

ACTIVE = re.compile(r"[\\|<*`\[]|&(?=#?\w+;)")
IN_TEXT = re.compile(r"[\\<*`\[]|&(?=#?\w+;)")
WIDE = frozenset({"W", "F"})
NO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})


def to_markdown(table: Table) -> str:
    """The title in bold, a table, the notes as a list; what Markdown would act on is escaped."""
    right = [column.kind is not Kind.TEXT for column in table.columns]
    head = [_escape(column.title) for column in table.columns]
    rows = [[_escape(cell) for cell in row] for row in table.shown_rows()]
    widths = [max(3, *map(width, column)) for column in zip(head, *rows, strict=True)]
    rule = [
        "-" * (size - 1) + ":" if to_right else "-" * size
        for size, to_right in zip(widths, right, strict=True)
    ]
    lines = [_line(row, widths, right) for row in (head, rule, *rows)]
    notes = ["", *(f"- {_escape(note, IN_TEXT)}" for note in table.notes)] if table.notes else []
    return "\n".join([f"**{_escape(table.title)}**", "", *lines, *notes]) + "\n"


def width(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in WIDE else 1


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = []
    for cell, size, to_right in zip(cells, widths, right, strict=True):
        space = " " * (size - width(cell))
        padded.append(space + cell if to_right else cell + space)
    return f"| {' | '.join(padded)} |"


def _escape(text: str, active: re.Pattern[str] = ACTIVE) -> str:
    return active.sub(r"\\\g<0>", " ".join(text.split()))
