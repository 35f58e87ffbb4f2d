"""Notes stand under a table in every format for people, and in none for programs."""

import io

import openpyxl
import pytest

from evalbot.formats.tables import Column, Table, render

TABLE = Table("T", (Column("a", "A"),), (("x",),), ("rate_min <b> & 50 %",))


@pytest.mark.parametrize(
    ("form", "note"),
    [
        ("md", "\n\n- rate_min \\<b> & 50 %\n"),
        ("html", '<p class="note">rate_min &lt;b&gt; &amp; 50 %</p>'),
        ("latex", r"\par\footnotesize rate\_min \textless{}b\textgreater{} \& 50 \%"),
    ],
)
def test_notes_are_escaped_for_their_format(form: str, note: str) -> None:
    assert note in render(TABLE, form=form).decode()


def test_notes_follow_the_rows_of_a_sheet() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(render(TABLE, form="xlsx"))).active
    assert [row[0].value for row in sheet.iter_rows()] == ["A", "x", None, "rate_min <b> & 50 %"]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_data_for_programs_has_no_notes(form: str) -> None:
    assert b"rate_min" not in render(TABLE, form=form)
