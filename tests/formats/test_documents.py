"""Documents: nothing in a text acts, in HTML or in Markdown, and nothing is loaded."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.formats.documents import (
    Bullets,
    Code,
    Document,
    Figure,
    Paragraph,
    Section,
    read_foreword,
    to_html,
    to_markdown,
)
from evalbot.formats.tables import Column, Kind, Table

HOSTILE = "<script>x</script><img src=http://elsewhere/x onerror=y> ![a](http://elsewhere) *b* `c`"
TABLE = Table("T", (Column("a", "a"), Column("n", "n", Kind.COUNT)), (("x", 1),), ("a note",))


class Tags(HTMLParser):
    """The elements of a page, and where they point."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                self.links.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)


def document(text: str) -> Document:
    blocks = (Paragraph(text), Bullets((text,)), Code(text), Figure("<svg/>", text), TABLE)
    return Document(text, (Paragraph(text, is_weighty=True),), (Section(text, blocks),),
                    (Paragraph(text),))  # fmt: skip


@given(st.one_of(st.just(HOSTILE), st.text(max_size=60)))
def test_a_page_has_only_its_own_elements_and_loads_nothing(text: str) -> None:
    tags = Tags()
    tags.feed(to_html(document(text)))
    assert not tags.handlers
    assert "script" not in tags.tags
    assert tags.tags.count("img") == 1
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in tags.links)


def test_a_page_says_to_browsers_that_it_may_load_nothing() -> None:
    page = to_html(document("x"))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "<title>x</title>" in page
    [data] = re.findall(r"base64,([^\"]+)\"", page)
    assert base64.b64decode(data) == b"<svg/>"


def test_contents_list_chapters_and_their_parts() -> None:
    parts = (Section("One", ()), Section("Part", (), 3), Section("Two", ()))
    page = to_html(Document("t", (), parts))
    assert re.findall(r'<li class="(\w+)"><a href="#s(\d)">(\w+)</a>', page) == [
        ("chapter", "0", "One"), ("part", "1", "Part"), ("chapter", "2", "Two"),
    ]  # fmt: skip
    assert '<h3 id="s1">Part</h3>' in page


def test_markdown_escapes_what_would_act() -> None:
    text = to_markdown(document(HOSTILE))
    assert "\\<script>" in text
    assert "\\![a]" in text or "!\\[a]" in text
    assert "\\*b\\*" in text
    assert "| x   |   1 |" in text
    assert "in the HTML report" in text


@pytest.mark.parametrize("text", ["# no heading", "1. no list", "> no quote", "- no list"])
def test_a_paragraph_stays_one(text: str) -> None:
    lines = to_markdown(Document("t", (Paragraph(text),), ())).splitlines()
    assert lines[2] == f"\\{text}"


def test_code_with_fences_is_fenced_longer() -> None:
    text = to_markdown(Document("t", (), (Section("s", (Code("```\nx\n```"),)),)))
    assert "````\n```\nx\n```\n````" in text


def test_a_foreword_is_paragraphs_and_lists() -> None:
    text = "One\nline.\r\n\r\n- a\n- b\n\n \n\nTwo."
    assert read_foreword(text) == (
        Paragraph("One line."), Bullets(("a", "b")), Paragraph("Two."),
    )  # fmt: skip
    assert read_foreword(" \n") == ()


def test_an_entity_in_a_text_stays_what_was_typed() -> None:
    """`&lt;b&gt;` is six signs and a b; a Markdown reader would show `<b>`."""
    table = Table("t", (Column("m", "m"),), (("&lt;b&#62; & c; &d",),), ("&amp;",))
    text = to_markdown(Document("&copy;", (Paragraph("R&D; a & b"),), (Section("s", (table,)),)))
    assert "# \\&copy;" in text
    assert "R\\&D; a & b" in text
    assert "\\&lt;b\\&#62; & c; &d" in text
    assert "\\&amp;" in text
