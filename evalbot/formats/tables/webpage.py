"""HTML: one self-contained page."""

from __future__ import annotations

from html import escape

from evalbot.formats.tables.table import Kind, Table

STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
caption { font-weight: bold; text-align: left; padding: 0.5rem 0; }
th, td { border-bottom: 1px solid #ccc; padding: 0.25rem 0.75rem; text-align: left; }
.note { font-size: 0.8rem; overflow-wrap: anywhere; margin: 0.25rem 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }"""


def to_html(*tables: Table) -> str:
    """A page with the tables and nothing that is loaded from elsewhere."""
    title = escape("; ".join(table.title for table in tables))
    body = "\n".join(map(table_html, tables))
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{STYLE}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def table_html(table: Table) -> str:
    """The table element and its notes, without a page around them."""
    head = _row("th", [column.title for column in table.columns], table)
    rows = [_row("td", row, table) for row in table.shown_rows()]
    caption = f"<caption>{escape(table.title)}</caption>"
    body = ["<tbody>", *rows, "</tbody>"]
    notes = [f'<p class="note">{escape(note)}</p>' for note in table.notes]
    return "\n".join(["<table>", caption, "<thead>", head, "</thead>", *body, "</table>", *notes])


def _row(tag: str, cells: list[str], table: Table) -> str:
    marked = []
    for cell, column in zip(cells, table.columns, strict=True):
        attribute = "" if column.kind is Kind.TEXT else ' class="number"'
        marked.append(f"<{tag}{attribute}>{escape(cell)}</{tag}>")
    return f"<tr>{''.join(marked)}</tr>"
