"""Fields of a page's forms, as the types they are meant to be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from evalbot.errors import InputError
from evalbot.formats.problems import one_of, shown

LARGEST = 2**31 - 1
Word = TypeVar("Word", bound=StrEnum)


def text(action: Mapping[str, Any], name: str) -> str:
    """A field that must be filled in."""
    value = action.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name}: fill this in")
    return value.strip()


def word(action: Mapping[str, Any], name: str, kind: type[Word]) -> Word:
    """One of the words of an enumeration."""
    value = action.get(name)
    known = [str(one) for one in kind]
    if value not in known:
        raise InputError(f"{name}: found {shown(str(value))}; expected {one_of(known, str(value))}")
    return kind(value)


def optional(action: Mapping[str, Any], name: str) -> str | None:
    """A field that may be left empty."""
    value = action.get(name)
    return value.strip() or None if isinstance(value, str) else None


def number(action: Mapping[str, Any], name: str) -> int | None:
    """A whole number; None where the field is empty."""
    value = action.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        found = int(value)
    except (TypeError, ValueError):
        found = -LARGEST - 1
    if isinstance(value, (bool, float)) or not -LARGEST <= found <= LARGEST:
        raise InputError(f"{name}: found {shown(str(value))}; expected a whole number")
    return found


def share(action: Mapping[str, Any], name: str) -> float:
    """A percentage as a share; 0 where the field is empty."""
    value = action.get(name)
    try:
        return float(value or 0) / 100
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: found {shown(str(value))}; expected a number of percent"
        ) from None


def several(action: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """All that was ticked or chosen under one name."""
    value = action.get(name, [])
    found = value if isinstance(value, list) else [value]
    return tuple(one for one in found if isinstance(one, str) and one)


def whether(action: Mapping[str, Any], name: str) -> bool:
    """Whether a box was ticked."""
    return bool(action.get(name))
