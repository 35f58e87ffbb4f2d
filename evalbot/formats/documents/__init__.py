"""Texts with tables and figures, as one HTML file or as Markdown."""

from evalbot.formats.documents.document import (
    Block,
    Bullets,
    Code,
    Document,
    Figure,
    Paragraph,
    Section,
    read_foreword,
)
from evalbot.formats.documents.markdown import to_markdown
from evalbot.formats.documents.webpage import to_html

__all__ = [
    "Block",
    "Bullets",
    "Code",
    "Document",
    "Figure",
    "Paragraph",
    "Section",
    "read_foreword",
    "to_html",
    "to_markdown",
]
