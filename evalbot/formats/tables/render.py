"""A table as the bytes of a file or of standard output."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from evalbot.errors import InputError
from evalbot.formats.cells import BOM
from evalbot.formats.problems import one_of, shown
from evalbot.formats.tables.latex import to_latex
from evalbot.formats.tables.markdown import to_markdown
from evalbot.formats.tables.plain import to_csv, to_json
from evalbot.formats.tables.spreadsheet import to_xlsx
from evalbot.formats.tables.table import Table
from evalbot.formats.tables.webpage import to_html

_TEXTS: MappingProxyType[str, Callable[[Table], str]] = MappingProxyType(
    {
        "md": to_markdown,
        "csv": to_csv,
        "json": to_json,
        "latex": to_latex,
    }
)

FORMATS = ("md", "csv", "json", "xlsx", "html", "latex")


def render(*tables: Table, form: str, to_file: bool = False) -> bytes:
    """The tables, one below the other, in one of FORMATS; in a spreadsheet a sheet each.

    csv and json take one table. Only a CSV file begins with a BOM, which Excel needs.
    Raises InputError for another format.
    """
    if form not in FORMATS:
        raise InputError(f"format: found {shown(form)}; expected {one_of(FORMATS, form)}")
    if form == "xlsx":
        return to_xlsx(*tables)
    text = to_html(*tables) if form == "html" else "\n".join(map(_TEXTS[form], tables))
    if form == "csv" and to_file:
        text = BOM + text
    return text.encode("utf-8", "replace")
