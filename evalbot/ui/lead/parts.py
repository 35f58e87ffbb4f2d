"""Small parts of the leads' pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from markupsafe import Markup

from evalbot.ui.choices import options
from evalbot.ui.text import as_text


def alert(problem: str | None) -> Markup:
    """What went wrong, if anything."""
    if problem is None:
        return Markup("")
    return Markup("<p role='alert' class='bad text'>{}</p>").format(as_text(problem))


def notice(told: str | None) -> Markup:
    """What was done, if there is anything to tell."""
    if told is None:
        return Markup("")
    return Markup("<p role='status' class='good'>{}</p>").format(as_text(told))


def choices(name: str, words: Mapping[str, str], chosen: str = "") -> Markup:
    """A select of these values and what they are called."""
    return Markup("<select name='{}'>{}</select>").format(name, options(words.items(), chosen))


def moment(at: datetime) -> str:
    """A time in UTC, to the minute."""
    return f"{at:%Y-%m-%d %H:%M}"
