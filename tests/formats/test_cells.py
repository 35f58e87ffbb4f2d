from __future__ import annotations

import csv

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalbot.formats.cells import BOM, Cell, protect, read_csv, unprotect, write_csv
from evalbot.formats.problems import Problems

from .texts import problems_of

CELL_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.text(
    "'=+-@\t\r\n \u200b,\"a", max_size=6
)


def rows_of(text: str, delimiter: str = ",") -> list[list[str]]:
    problems = Problems()
    rows = read_csv(text, "f.csv", problems, delimiter)
    problems.raise_if_any()
    return [row.cells for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("-はい", "'-はい"),
        ("+1", "'+1"),
        ("@a", "'@a"),
        ("\ta", "'\ta"),
        ("\ra", "'\ra"),
        (" =1", "' =1"),
        ("\u3000=1", "'\u3000=1"),
        ('\u200b=HYPERLINK("x")', '\'\u200b=HYPERLINK("x")'),
        ("\ufeff=1", "'\ufeff=1"),
        ("'=1", "''=1"),
        ("''-1", "'''-1"),
        ("' =1", "'' =1"),
        ("'a", "'a"),
        ("'", "'"),
        ("", ""),
        ("a=1", "a=1"),
        ("東京駅で待つ", "東京駅で待つ"),
    ],
)
def test_what_could_run_as_a_formula_gets_one_apostrophe(text: str, expected: str) -> None:
    assert protect(text) == expected
    assert unprotect(expected) == text


@given(CELL_TEXTS)
@example("'=")
def test_reading_removes_exactly_what_writing_added(text: str) -> None:
    assert unprotect(protect(text)) == text


def test_numbers_stay_numbers_and_none_is_empty() -> None:
    assert write_csv([["-3.5", -3.5, 0.5625, 7, None]]) == "'-3.5,-3.5,0.5625,7,\n"


@given(st.lists(st.lists(CELL_TEXTS, min_size=1, max_size=3), max_size=4))
def test_cells_survive_a_round_trip(rows: list[list[str]]) -> None:
    kept = [row for row in rows if any(row)]
    assert rows_of(BOM + write_csv(rows)) == kept


@given(st.lists(st.lists(CELL_TEXTS, min_size=1, max_size=3), max_size=4))
def test_other_readers_read_the_same_cells(rows: list[list[str]]) -> None:
    lines = write_csv(rows)
    read = csv.reader(iter(lines.splitlines(keepends=True)), strict=True)
    if "\r" not in lines and all(len(line.splitlines()) < 2 for row in rows for line in row):
        assert [[unprotect(cell) for cell in row] for row in read] == rows


def test_rows_are_counted_as_a_spreadsheet_counts_them() -> None:
    rows = read_csv('a,b\n"1\n2",x\n\ny,z\n', "f.csv", Problems())
    assert [(row.number, row.cells) for row in rows] == [
        (1, ["a", "b"]),
        (2, ["1\n2", "x"]),
        (4, ["y", "z"]),
    ]


def test_windows_line_ends_and_tabs_are_read() -> None:
    assert rows_of("a\tb\r\n1\t2\r\n", "\t") == [["a", "b"], ["1", "2"]]


def test_a_cell_may_be_longer_than_the_reader_of_csv_allows_by_itself() -> None:
    limit = csv.field_size_limit()
    assert rows_of("x" * 200_000) == [["x" * 200_000]]
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("text", ['a\n"b', 'a\n"b"c,d'])
def test_a_fault_in_quoting_names_its_row(text: str) -> None:
    found = problems_of(lambda: rows_of(text))
    assert len(found) == 1
    assert found[0].startswith("f.csv:2: found ")
    assert found[0].endswith("; expected quotes closed and doubled inside")


@pytest.mark.parametrize("cell", ["a", 1, 0.5, None])
def test_a_lone_cell_is_a_line(cell: Cell) -> None:
    assert write_csv([[cell]]).count("\n") == 1
    assert write_csv([[cell]]) != "\n"
