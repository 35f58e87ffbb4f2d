"""Boxes to tick and lists to choose from, as HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from markupsafe import Markup

from evalbot.ui.text import as_text

BOX = Markup(
    '<label class="choice"><input type="checkbox" name="{}" value="{}"{}> {}'
    ' <span class="quiet">{}</span></label>'
)
OPTION = Markup('<option value="{}"{}>{}</option>')


def boxes(name: str, choices: Iterable[tuple[str, str]], ticked: Collection[str] = ()) -> Markup:
    """A box for each choice, a name and a word about it."""
    return Markup("").join(
        BOX.format(
            name,
            choice,
            Markup(" checked") if choice in ticked else "",
            as_text(choice),
            as_text(about),
        )
        for choice, about in choices
    )


def options(choices: Iterable[tuple[str, str]], chosen: str) -> Markup:
    """The options of a select: what is sent, and what is read."""
    return Markup("").join(
        OPTION.format(value, Markup(" selected") if value == chosen else "", as_text(words))
        for value, words in choices
    )
