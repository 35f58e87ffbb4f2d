"""XLSX: numbers that stay numbers, texts that are never run as formulas."""

from __future__ import annotations

import datetime
import io
import re
from typing import Any

from evalbot.formats.tables.markdown import width
from evalbot.formats.tables.table import Column, Kind, Table, Value, raw, shown

LONGEST_TEXT = 32_767
LONGEST_SHEET_NAME = 31
WIDEST_COLUMN = 60
MADE = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
"""Noted as the date of making, so that the same table is the same file."""

OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def to_xlsx(*tables: Table) -> bytes:
    """A workbook with a sheet for each table."""
    import xlsxwriter

    content = io.BytesIO()
    with xlsxwriter.Workbook(content, OPTIONS) as book:
        book.set_properties({"title": tables[0].title, "created": MADE})
        for number, table in enumerate(tables, start=1):
            name = _sheet_name(table.title if len(tables) == 1 else f"{number} {table.title}")
            _fill(book, book.add_worksheet(name), table)
    return content.getvalue()


def _fill(book: Any, sheet: Any, table: Table) -> None:
    sheet.freeze_panes(1, 0)
    bold = book.add_format({"bold": True})
    for at, column in enumerate(table.columns):
        form = book.add_format({"num_format": _number_format(column)})
        sheet.write_string(0, at, column.title, bold)
        for line, row in enumerate(table.rows, start=1):
            _write(sheet, line, at, row[at], column, form)
        sheet.set_column(at, at, _width(table, at))
    for line, note in enumerate(table.notes, start=len(table.rows) + 2):
        sheet.write_string(line, 0, note[:LONGEST_TEXT])


def _write(sheet: Any, line: int, at: int, value: Value, column: Column, form: Any) -> None:
    if value is None or isinstance(value, str):
        text = shown(value, column).encode("utf-8", "replace").decode("utf-8")
        sheet.write_string(line, at, text[:LONGEST_TEXT])
    else:
        sheet.write_number(line, at, _number(value, column), form)


def _number(value: Value, column: Column) -> Any:
    """The number, rounded beforehand where the program would round it to another one.

    Spreadsheet programs round what is left of a number after its 15th digit.
    """
    number = raw(value)
    if column.kind in (Kind.RATE, Kind.NUMBER) and isinstance(number, float):
        seen = float(f"{number:.15g}")
        if shown(seen, column) != shown(value, column):
            return _rounded(value, column)
    return number


def _rounded(value: Value, column: Column) -> float:
    text = shown(value, column).replace("−", "-")
    return float(text.removesuffix(" %")) / 100 if column.kind is Kind.RATE else float(text)


def _number_format(column: Column) -> str:
    decimals = "." + "0" * column.digits if column.digits else ""
    if column.kind is Kind.RATE:
        return f"0{decimals} %"
    return f"0{decimals}" if column.kind is Kind.NUMBER else "General"


def _width(table: Table, at: int) -> int:
    column = table.columns[at]
    texts = [column.title, *(shown(row[at], column) for row in table.rows)]
    return min(WIDEST_COLUMN, max(map(width, texts)) + 2)


def _sheet_name(title: str) -> str:
    name = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", title)[:LONGEST_SHEET_NAME].strip(" '")
    return "Table" if name.casefold() in ("", "history") else name
