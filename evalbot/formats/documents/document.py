"""What a document is, whatever it is written as. All texts are plain: nothing in them acts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from evalbot.formats.tables import Table


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; is_weighty: what nobody should miss."""

    text: str
    is_weighty: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list, each a sentence or two."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are typed or stored."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as SVG, and in words what it shows."""

    svg: str
    caption: str


Block: TypeAlias = Paragraph | Bullets | Code | Figure | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; level 2 is a chapter, 3 a part of one."""

    heading: str
    blocks: tuple[Block, ...]
    level: int = 2


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text; lead: what it says in a few sentences; foreword: somebody's own words."""

    title: str
    lead: tuple[Paragraph, ...]
    sections: tuple[Section, ...]
    foreword: tuple[Block, ...] = ()


def read_foreword(text: str) -> tuple[Block, ...]:
    """Paragraphs parted by empty lines; lines that all begin with `- ` are a list."""
    blocks: list[Block] = []
    for part in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        if lines and all(line.startswith("- ") for line in lines):
            blocks.append(Bullets(tuple(line.removeprefix("- ") for line in lines)))
        elif lines:
            blocks.append(Paragraph(" ".join(lines)))
    return tuple(blocks)
