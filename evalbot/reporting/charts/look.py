"""What all charts share: colours, shapes, letters, titles."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers can tell apart, without the yellow."""

SHAPES = (
    "circle", "square", "triangle-up", "diamond",
    "cross", "triangle-down", "triangle-right", "triangle-left",
)  # fmt: skip
"""One more than colours: 56 pairs before one comes again, and shapes differ in black and white."""

FONT = (
    "Noto Sans CJK JP, Noto Sans CJK SC, Source Han Sans, Hiragino Sans, PingFang SC, "
    "Yu Gothic, Microsoft YaHei, Arial, Helvetica, DejaVu Sans, sans-serif"
)
"""Fonts with Japanese and Chinese come first: the renderer takes the first font that is there
for a whole text, and any at all for letters that it lacks."""

NAME_LIMIT, TITLE_LIMIT, AXIS_LIMIT = 300, 800, 400
"""Pixels after which names in legends, titles and titles of axes are cut."""

GREY = "#555555"

TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Kinds of characters that make a text read as another one."""


class Look(NamedTuple):
    """How one name is drawn."""

    colour: str
    shape: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name, by the sorted order of names: the same names, the same looks."""
    return {
        name: Look(COLOURS[place % len(COLOURS)], SHAPES[place % len(SHAPES)])
        for place, name in enumerate(sorted(set(names)))
    }


def shown(text: str) -> str:
    """A text from outside as a chart can hold it: of one line, of whole characters, not empty."""
    clean = "".join("\ufffd" if _unfit(character) else character for character in text)
    return clean if clean.strip() else "(no name)"


def _unfit(character: str) -> bool:
    """Whether XML cannot hold it, or it breaks the line or turns its direction."""
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in TURNING
        or character in "\ufffe\uffff"
    )


def dressed(
    chart: alt.LayerChart | alt.ConcatChart, title: str, subtitle: Sequence[str]
) -> alt.TopLevelMixin:
    """The chart with its title, on white, in letters and lines that print well."""
    import altair as alt

    head = alt.TitleParams(text=title, subtitle=[line for line in subtitle if line])
    whole: alt.TopLevelMixin = (
        chart.properties(title=head, background="white")
        .configure(font=FONT)
        .configure_title(
            anchor="start", offset=14, limit=TITLE_LIMIT, fontSize=15,
            subtitleFontSize=11, subtitleColor=GREY,
        )
        .configure_view(stroke="#CCCCCC")
        .configure_axis(
            labelFontSize=11, labelFlush=False, titleFontSize=12, titleFontWeight="normal",
            titleLimit=AXIS_LIMIT, gridColor="#E5E5E5", domainColor="#888888", tickColor="#888888",
        )
        .configure_rule(opacity=1)
        .configure_text(fontSize=11, color="black", strokeJoin="round")
        .configure_legend(labelFontSize=11, labelLimit=NAME_LIMIT, symbolSize=80, symbolLimit=0)
    )  # fmt: skip
    return whole


def not_drawn(reasons: Mapping[str, int]) -> str:
    """`Not drawn: 2 out of memory, 1 failed`; empty where everything is drawn."""
    told = [f"{count} {reason}" for reason, count in sorted(reasons.items()) if count]
    return f"Not drawn: {', '.join(told)}" if told else ""
