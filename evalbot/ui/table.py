"""A table as HTML of a page: cells may be buttons, and long small print is folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from evalbot.formats.tables import Column, Kind, Table
from evalbot.formats.tables.table import shown
from evalbot.formats.words import count
from evalbot.ui.text import as_text

TABLE = Markup("""\
<section class="table"><h2 class="text">{title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>
<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
{notes}</section>
""")
FOLDED = Markup(
    '<details class="small"><summary>{words}</summary><ul class="notes">{notes}</ul></details>'
)
SIGNATURE = "signature"

CellHtml = Callable[[int, Column, Markup], Markup]
"""Given the row's number, the column and the cell's text: what stands in the cell."""


def table_html(table: Table, cell: CellHtml = lambda _row, _column, words: words) -> Markup:
    """The table under its title, then its notes, signatures folded away."""
    return TABLE.format(
        title=as_text(table.title),
        head=Markup("").join(_head(column) for column in table.columns),
        rows=Markup("").join(
            Markup("<tr>{}</tr>").format(
                Markup("").join(
                    Markup("<td{}>{}</td>").format(
                        _side(column), cell(number, column, as_text(shown(value, column)))
                    )
                    for column, value in zip(table.columns, row, strict=True)
                )
            )
            for number, row in enumerate(table.rows)
        ),
        notes=_notes(table.notes),
    )


def _head(column: Column) -> Markup:
    return Markup('<th scope="col"{}>{}</th>').format(_side(column), as_text(column.title))


def _side(column: Column) -> Markup:
    return Markup("") if column.kind is Kind.TEXT else Markup(' class="number"')


def _notes(notes: Sequence[str]) -> Markup:
    plain = [note for note in notes if not note.startswith(SIGNATURE)]
    signatures = [note for note in notes if note.startswith(SIGNATURE)]
    told = Markup('<ul class="notes">{}</ul>').format(_lines(plain)) if plain else Markup("")
    if not signatures:
        return told
    words = f"Signatures: every setting behind these rates ({count(len(signatures), 'line')})"
    return told + FOLDED.format(words=words, notes=_lines(signatures))


def _lines(notes: Sequence[str]) -> Markup:
    return Markup("").join(
        Markup('<li class="text">{}</li>').format(as_text(note)) for note in notes
    )
