"""Cells of CSV files: which need an apostrophe, and how they are quoted and read back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from evalbot.formats.problems import Problems

Cell: TypeAlias = str | int | float | None

BOM = "\ufeff"
ZERO_WIDTH = "\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff"

# Spreadsheet programs run such a text as a formula. The apostrophe is in the class, so
# that a protected text is in turn one that needs protection: only then can reading undo
# exactly one step.
FORMULA = re.compile(rf"[\s{ZERO_WIDTH}']*?[=+\-@\t\r]")
NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$')


def protect(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet program could run it."""
    return f"'{text}" if FORMULA.match(text) else text


def unprotect(text: str) -> str:
    """Undoes protect: unprotect(protect(text)) == text for every text."""
    return text[1:] if text.startswith("'") and FORMULA.match(text, 1) else text


def write_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Lines of CSV, each ended by a line feed. None is an empty cell; only texts are protected."""
    return "".join(_csv_line(row) for row in rows)


def _csv_line(row: Sequence[Cell]) -> str:
    line = ",".join(_csv_cell(cell) for cell in row)
    # A lone empty cell would be a blank line, which readers pass over.
    return f"{line}\n" if line else '""\n'


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return repr(cell)
    text = protect(cell)
    if NEEDS_QUOTES.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


class Row(NamedTuple):
    """The cells of one row, and its number as a spreadsheet program counts it."""

    number: int
    cells: list[str]


def read_csv(text: str, file: str, problems: Problems, delimiter: str = ",") -> list[Row]:
    """All rows but blank ones, apostrophes removed; what follows a fault in quoting is left out."""
    rows: list[Row] = []
    number = 0
    # The limit guards against an unclosed quote, which strict reading reports anyway; a
    # long prompt is longer. It belongs to the whole process, so it is put back.
    limit = csv.field_size_limit(max(len(text), 1) + 1)
    try:
        reader = csv.reader(
            io.StringIO(text.removeprefix(BOM), newline=""), delimiter=delimiter, strict=True
        )
        for number, cells in enumerate(reader, start=1):
            if any(cells):
                rows.append(Row(number, [unprotect(cell) for cell in cells]))
    except csv.Error as error:
        problems.add(f"{file}:{number + 1}", "", str(error), "quotes closed and doubled inside")
    finally:
        csv.field_size_limit(limit)
    return rows
