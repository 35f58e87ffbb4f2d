"""Rows under a header line, as mappings from column to text."""

from __future__ import annotations

from collections.abc import Sequence

from evalbot.formats.cells import Row
from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries, Node, Scalar


def read_records(rows: Sequence[Row], file: str, problems: Problems) -> list[Entries]:
    """One mapping a row, by the names in the first row; an empty cell is nothing."""
    if not rows:
        problems.add(file, "", "an empty file", "a header line and rows")
        return []
    header = _header(rows[0], file, problems)
    records = []
    for number, cells in rows[1:]:
        if len(cells) < len(header) or any(cells[len(header) :]):
            found = f"{len(cells)} cells"
            problems.add(f"{file}:{number}", "", found, f"{len(header)}, one a column")
        values: dict[str, Node] = {
            name: Scalar(cell, number, quoted=cell != "")
            for name, cell in zip(header, cells, strict=False)
            if name
        }
        records.append(Entries(values, number))
    return records


def _header(row: Row, file: str, problems: Problems) -> list[str]:
    names = [name.strip() for name in row.cells]
    while names and not names[-1]:
        names.pop()
    place = f"{file}:{row.number}"
    if len(names) == 1 and ";" in names[0]:
        problems.add(place, "", "columns separated by `;`", "columns separated by commas")
    for at, name in enumerate(names):
        if not name:
            problems.add(place, f"column {at + 1}", "no name", "a column name")
        elif name in names[:at]:
            problems.add(place, "", f"column {shown(name)} twice", "each column once")
    return names
