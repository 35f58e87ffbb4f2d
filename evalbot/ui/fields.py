"""What a form of a panel sent, read as what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from evalbot.errors import InputError
from evalbot.formats.problems import one_of, shown

Word = TypeVar("Word", bound=StrEnum)
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


def required(action: Action, name: str) -> str:
    """The one text of this name, which must be there."""
    found = text(action, name)
    if found is None:
        raise InputError(f"{name}: fill this in")
    return found


def number(action: Action, name: str, least: int = 1) -> int | None:
    """A whole number; None where nothing stands there, InputError for anything else."""
    value = action.get(name)
    found = str(value) if isinstance(value, int) else text(action, name)
    if found is None:
        return None
    if not found.isascii() or not found.isdigit() or len(found) > 9 or int(found) < least:
        raise InputError(f"{name}: found {shown(found)}; expected a whole number from {least}")
    return int(found)


def share(action: Action, name: str) -> float:
    """A percentage as a share; 0 where nothing stands there."""
    found = text(action, name) or "0"
    try:
        return float(found) / 100
    except ValueError:
        raise InputError(f"{name}: found {shown(found)}; expected a number of percent") from None


def word(action: Action, name: str, kind: type[Word]) -> Word:
    """One of the words of an enumeration."""
    found = text(action, name) or ""
    known = [str(one) for one in kind]
    if found not in known:
        raise InputError(f"{name}: found {shown(found)}; expected {one_of(known, found)}")
    return kind(found)
