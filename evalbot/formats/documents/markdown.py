"""A document as Markdown. Figures are told in words: one file cannot hold them everywhere."""

from __future__ import annotations

import re

from evalbot.formats.documents.document import Block, Bullets, Code, Document, Figure, Paragraph
from evalbot.formats.tables import Table
from evalbot.formats.tables.markdown import to_markdown as table_markdown

ACTIVE = re.compile(r"[\\<*`\[_]|&(?=#?\w+;)|^(?=[#>+-]|\d+[.)])")


def to_markdown(document: Document) -> str:
    """The document; what Markdown would act on in its texts is escaped."""
    parts = [f"# {_plain(document.title)}", *map(_block, document.foreword)]
    parts += map(_paragraph, document.lead)
    for section in document.sections:
        parts.append(f"{'#' * section.level} {_plain(section.heading)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _paragraph(block)
        case Bullets():
            return "\n".join(f"- {_plain(item)}" for item in block.items)
        case Code():
            longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"{fence}\n{block.text}\n{fence}"
        case Figure():
            return f"*(Figure, in the HTML report: {_plain(block.caption)})*"
        case Table():
            return table_markdown(block)


def _paragraph(paragraph: Paragraph) -> str:
    text = _plain(paragraph.text)
    return f"**{text}**" if paragraph.is_weighty else text


def _plain(text: str) -> str:
    return ACTIVE.sub(r"\\\g<0>", " ".join(text.split()))
