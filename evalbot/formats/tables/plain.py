"""CSV and JSON: raw values for programs."""

from __future__ import annotations

import json

from evalbot.formats.cells import write_csv
from evalbot.formats.tables.table import Table


def to_csv(table: Table) -> str:
    """A line of column names, then a line a row; None is an empty cell."""
    return write_csv([[column.name for column in table.columns], *table.raw_rows()])


def to_json(table: Table) -> str:
    """A list of objects, one a row; None is null."""
    names = [column.name for column in table.columns]
    objects = [dict(zip(names, row, strict=True)) for row in table.raw_rows()]
    return json.dumps(objects, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
