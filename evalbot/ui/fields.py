"""What a form of a panel sent, read as what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbot.errors import InputError
from evalbot.formats.problems import shown

Action = Mapping[str, Any]
"""What a button or form sent: names to texts, or lists of texts where a name came twice."""


def texts(action: Action, name: str) -> tuple[str, ...]:
    """The texts of this name: none, one, or as many boxes as were ticked."""
    value = action.get(name)
    values = value if isinstance(value, list) else [value]
    return tuple(one for one in values if isinstance(one, str) and one)


def text(action: Action, name: str) -> str | None:
    """The one text of this name; None where it is empty or not there."""
    return next(iter(texts(action, name)), "").strip() or None


def split(action: Action, name: str) -> tuple[str, ...]:
    """`a, b` as ("a", "b")."""
    return tuple(part.strip() for part in (text(action, name) or "").split(",") if part.strip())


def number(action: Action, name: str) -> int | None:
    """A whole number from 1; None where nothing stands there, InputError for anything else."""
    found = text(action, name)
    if found is None:
        return None
    if not found.isascii() or not found.isdigit() or len(found) > 9 or int(found) == 0:
        raise InputError(f"{name}: found {shown(found)}; expected a whole number from 1")
    return int(found)
