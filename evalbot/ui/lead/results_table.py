"""The rate table whose numbers open the answers behind them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalbot.domain.rubrics import Layer
from evalbot.formats.tables import Column
from evalbot.reporting.behind import Cell, Counted
from evalbot.reporting.rate_rows import RateRow
from evalbot.reporting.rate_table import people_tables
from evalbot.ui.fields import Action, text
from evalbot.ui.panel import action_attribute
from evalbot.ui.table import CellHtml, table_html

COUNT_OF = "count_"
PLAIN = {
    "rate": Counted.SCORED,
    "n": Counted.SCORED,
    "unscored": Counted.UNSCORED,
    "stale": Counted.STALE,
}


def rate_tables(rows: Sequence[RateRow]) -> Markup:
    """A table for each suite."""
    suites: dict[str, list[RateRow]] = {}
    for row in rows:
        suites.setdefault(row.suite, []).append(row)
    return Markup("").join(
        table_html(table, _cells(together))
        for table, together in zip(people_tables(rows), suites.values(), strict=True)
    )


def cell_of(action: Action) -> Cell:
    """The cell that a button names."""
    return Cell(
        run=text(action, "run") or "",
        model=text(action, "model") or "",
        counted=Counted(text(action, "counted") or ""),
        verdict=text(action, "verdict"),
        layer=Layer(text(action, "layer") or Layer.AUTO),
        judge=text(action, "judge"),
        tag=text(action, "tag"),
    )


def starts_of(action: Action) -> list[int]:
    """Where the pages begin that were read so far, the one to show last."""
    found = action.get("starts")
    starts = [one for one in found if isinstance(one, int)] if isinstance(found, list) else []
    return [max(0, one) for one in starts] or [0]


def fields_of_cell(cell: Cell) -> dict[str, str]:
    """The same as an action's fields; `cell_of` reads it back."""
    found = {
        "run": cell.run,
        "model": cell.model,
        "counted": str(cell.counted),
        "verdict": cell.verdict,
        "layer": str(cell.layer),
        "judge": cell.judge,
        "tag": cell.tag,
    }
    return {name: value for name, value in found.items() if value is not None}


def _cells(rows: Sequence[RateRow]) -> CellHtml:
    return lambda number, column, words: _cell(rows[number], column, words)


def _cell(row: RateRow, column: Column, words: Markup) -> Markup:
    cell = _behind(row, column.name)
    if cell is None:
        return words
    return Markup('<button class="cell" data-panel="behind" {} title="{}">{}</button>').format(
        action_attribute(do="open", **fields_of_cell(cell)),
        f"the answers behind: {row.model}, {cell.verdict or cell.counted}",
        words,
    )


def _behind(row: RateRow, column: str) -> Cell | None:
    """The answers that this cell counts; None where it counts none."""
    rate, counted, verdict = row.rate, PLAIN.get(column), None
    if column.startswith(COUNT_OF):
        counted, verdict = Counted.VERDICT, column.removeprefix(COUNT_OF)
    how_many = {
        Counted.SCORED: rate.n,
        Counted.VERDICT: rate.counts.get(verdict or "", 0),
        Counted.UNSCORED: rate.unscored,
        Counted.STALE: rate.stale,
    }
    if counted is None or not how_many[counted]:
        return None
    return Cell(row.run, row.model, counted, verdict, Layer(row.layer), row.grader, row.tag)
