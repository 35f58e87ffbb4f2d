"""The first sheet of an XLSX file as rows of texts."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalbot.formats.cells import Row
from evalbot.formats.problems import Problems
from evalbot.formats.textfile import read_bytes

ERROR_TYPE = "e"
FORMULA_TYPE = "f"


class SheetCell(NamedTuple):
    """A cell's type by openpyxl's letters, and its value."""

    kind: str
    value: Any


def read_sheet(path: Path, file: str, problems: Problems) -> list[Row]:
    """All rows but blank ones. Numbers read as they are shown (1, not 1.0), formulas as stored."""
    content = read_bytes(path)
    try:
        written = _cells(content, values=False)
        has_formulas = any(cell.kind == FORMULA_TYPE for row in written for cell in row)
        stored = _cells(content, values=True) if has_formulas else written
    except Exception as error:  # openpyxl lets any error of any layer through
        problems.add(file, "", f"{type(error).__name__}: {error}", "an XLSX workbook")
        return []
    width = max((len(row) for row in written), default=0)
    rows = []
    for number, pairs in enumerate(zip(written, stored, strict=True), start=1):
        cells = [
            _text(formula, value, f"{file}:{number}", f"column {column}", problems)
            for column, (formula, value) in enumerate(zip(*pairs, strict=True), start=1)
        ]
        if any(cells):
            rows.append(Row(number, cells + [""] * (width - len(cells))))
    return rows


def _text(
    written: SheetCell, stored: SheetCell, place: str, column: str, problems: Problems
) -> str:
    if written.kind == FORMULA_TYPE and stored.value is None:
        expected = "the workbook opened and saved by its program"
        problems.add(place, column, "a formula without a stored value", expected)
    elif stored.kind == ERROR_TYPE:
        problems.add(place, column, f"the error {stored.value}", "a value")
    return _shown(stored.value)


def _cells(content: bytes, *, values: bool) -> list[list[SheetCell]]:
    """The first sheet with the formulas as written, or with the values stored for them."""
    with _opened(content, values=values) as sheet:
        return [
            [SheetCell(cell.data_type, cell.value) for cell in row] for row in sheet.iter_rows()
        ]


@contextmanager
def _opened(content: bytes, *, values: bool) -> Iterator[Any]:
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        # It warns of every decoration it does not know; none of them changes a text.
        warnings.simplefilter("ignore")
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=values)
        with closing(book):
            sheet = book.worksheets[0]
            # The size a program has noted in the file may be wrong, and hides cells.
            sheet.reset_dimensions()
            yield sheet


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
