from __future__ import annotations

import io
import json
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from evalbot.errors import InputError
from evalbot.formats.cells import read_csv
from evalbot.formats.problems import Problems
from evalbot.formats.tables import FORMATS, Column, Kind, Table, Value, render
from evalbot.formats.tables.markdown import width

COLUMNS = (
    Column("model", "Model"),
    Column("n", "n", Kind.COUNT),
    Column("rate", "Error rate", Kind.RATE),
    Column("tps", "tok/s", Kind.NUMBER, 2),
)
TABLE = Table(
    "誤訳 & more",
    COLUMNS,
    (
        ("東京|a", 16, 0.5625, 2.675),
        ("=1+1", 0, None, None),
        ("b_c", 3, Fraction(1, 3), 59.5),
    ),
)

MARKDOWN = """\
**誤訳 & more**

| Model   |   n | Error rate | tok/s |
| ------- | --: | ---------: | ----: |
| 東京\\|a |  16 |     56.3 % |  2.68 |
| =1+1    |   0 |          – |     – |
| b_c     |   3 |     33.3 % | 59.50 |
"""

LATEX = r"""% needs \usepackage{booktabs}
\begin{table}
\centering
\caption{誤訳 \& more}
\begin{tabular}{lrrr}
\toprule
Model & n & Error rate & tok/s \\
\midrule
東京\textbar{}\allowbreak{}a & 16 & 56.3 \% & 2.68 \\
=1+1 & 0 & -- & -- \\
b\_c & 3 & 33.3 \% & 59.50 \\
\bottomrule
\end{tabular}
\end{table}
"""


def text_of(table: Table, form: str) -> str:
    return render(table, form=form).decode()


def one_cell(value: Value, kind: Kind = Kind.TEXT, digits: int = 1) -> Table:
    return Table("t", (Column("c", "C", kind, digits),), ((value,),))


def sheet_of(table: Table) -> list[list[tuple[object, str]]]:
    sheet = load_workbook(io.BytesIO(render(table, form="xlsx"))).worksheets[0]
    return [[(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows()]


def test_csv_carries_raw_values_and_protects_texts() -> None:
    assert text_of(TABLE, "csv") == (
        "model,n,rate,tps\n東京|a,16,0.5625,2.675\n'=1+1,0,,\nb_c,3,0.3333333333333333,59.5\n"
    )


def test_only_a_csv_file_begins_with_a_bom() -> None:
    assert render(TABLE, form="csv", to_file=True) == b"\xef\xbb\xbf" + render(TABLE, form="csv")
    assert render(TABLE, form="json", to_file=True) == render(TABLE, form="json")


def test_json_is_a_list_of_objects_with_null_for_none() -> None:
    assert json.loads(text_of(TABLE, "json")) == [
        {"model": "東京|a", "n": 16, "rate": 0.5625, "tps": 2.675},
        {"model": "=1+1", "n": 0, "rate": None, "tps": None},
        {"model": "b_c", "n": 3, "rate": 1 / 3, "tps": 59.5},
    ]
    assert "東京" in text_of(TABLE, "json")


def test_markdown_lines_up_in_a_terminal() -> None:
    assert text_of(TABLE, "md") == MARKDOWN


def test_latex_is_escaped() -> None:
    assert text_of(TABLE, "latex") == LATEX


def test_html_is_one_page_that_says_its_encoding() -> None:
    page = text_of(TABLE, "html")
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
    assert "<caption>誤訳 &amp; more</caption>" in page
    assert '<td class="number">56.3 %</td>' in page
    assert '<td class="number">–</td>' in page
    assert "http" not in page


def test_a_workbook_holds_numbers_as_numbers_and_texts_as_texts() -> None:
    assert sheet_of(TABLE)[1:] == [
        [("東京|a", "General"), (16, "General"), (0.5625, "0.0 %"), (2.675, "0.00")],
        [("=1+1", "General"), (0, "General"), ("–", "General"), ("–", "General")],
        [("b_c", "General"), (3, "General"), (1 / 3, "0.0 %"), (59.5, "0.00")],
    ]
    book = load_workbook(io.BytesIO(render(TABLE, form="xlsx")))
    assert book.worksheets[0]["A3"].data_type == "s"


def test_a_workbook_rounds_as_the_other_formats_do() -> None:
    # Fifteen digits of this number are 0.5625, which a spreadsheet program rounds up.
    below = 0.56249999999999989
    assert text_of(one_cell(below, Kind.RATE), "md").splitlines()[-1] == "| 56.2 % |"
    assert sheet_of(one_cell(below, Kind.RATE))[1] == [(0.562, "0.0 %")]


@pytest.mark.parametrize("title", ["", "History", "a/b:c" * 20, "'x'", "[誤訳]"])
def test_any_title_names_a_sheet(title: str) -> None:
    render(Table(title, COLUMNS, ()), form="xlsx")


def test_the_same_table_is_the_same_file() -> None:
    assert render(TABLE, form="xlsx") == render(TABLE, form="xlsx")


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("md", "a|b", r"a\|b"),
        ("md", "a\\b", r"a\\b"),
        ("md", "![x](http://h/x.png)", r"!\[x](http://h/x.png)"),
        ("md", "<img src=x>", r"\<img src=x>"),
        ("md", "a\nb", "a b"),
        ("html", "<img src=x>", "&lt;img src=x&gt;"),
        ("html", '"&', "&quot;&amp;"),
        ("latex", r"\a{b}_$%#&~^", r"\textbackslash{}a\{b\}\_\$\%\#\&\textasciitilde{}"),
        ("latex", "[x]", "{[x]}"),
        ("csv", "=1", "'=1"),
        ("csv", 'a"b\nc', '"a""b\nc"'),
        ("json", "\x01\u2028", '"\\u0001\u2028"'),
    ],
)
def test_texts_are_escaped_for_their_format(form: str, text: str, expected: str) -> None:
    assert expected in text_of(one_cell(text), form)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", 3),
        ("東京", 4),
        ("ﾃｽﾄ", 3),
        ("ｅ", 2),
        ("e\u0301", 1),
        ("\u200b", 0),
        ("✅", 2),
        ("", 0),
    ],
)
def test_the_width_of_a_text_in_a_terminal(text: str, expected: int) -> None:
    assert width(text) == expected


def test_an_unknown_format_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean html\?"):
        render(TABLE, form="htm")


def test_a_table_may_have_no_rows() -> None:
    for form in FORMATS:
        render(Table("t", COLUMNS, ()), form=form)


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.seen.add(tag)


PAGE_TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "style", "body"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    }
)
VALUES = st.none() | st.text(max_size=8) | st.integers(-9, 9) | st.floats(-9, 9) | st.fractions()


@given(st.lists(st.tuples(VALUES, VALUES), max_size=3).map(tuple), st.sampled_from(Kind))
def test_any_values_make_a_sound_table(rows: tuple[tuple[Value, ...], ...], kind: Kind) -> None:
    table = Table("t", (Column("a", "A", kind), Column("b", "B", kind)), rows)
    for form in FORMATS:
        render(table, form=form)
    assert len({width(line) for line in text_of(table, "md").splitlines()[2:]}) == 1
    tags = Tags()
    tags.feed(text_of(table, "html"))
    assert tags.seen <= PAGE_TAGS
    read = read_csv(text_of(table, "csv"), "t", Problems())
    expected = [["" if cell is None else str(cell) for cell in row] for row in table.raw_rows()]
    assert [row.cells for row in read[1:]] == [row for row in expected if any(row)]


def test_a_negative_number_has_a_minus_sign_for_people() -> None:
    table = Table("x", (Column("tps", "tok/s", Kind.NUMBER),), ((-3.71,),))
    assert "|  −3.7 |" in text_of(table, "md")
    assert "-3.71" in text_of(table, "csv")


def test_a_negative_number_that_is_rounded_beforehand_stays_a_number() -> None:
    table = Table("x", (Column("tps", "tok/s", Kind.NUMBER),), ((-0.6499999999999999,),))
    sheet = load_workbook(io.BytesIO(render(table, form="xlsx"))).worksheets[0]
    assert sheet.cell(2, 1).value == -0.6
