"""Fields of an export, read back exactly as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from evalbot.formats.fields import UNSTORABLE, Fields
from evalbot.formats.free import free_value
from evalbot.formats.problems import shown
from evalbot.formats.tree import Items, Scalar

MOMENT = "a date and time such as 2025-01-31T18:00:00.000000Z"


def optional_text(fields: Fields, name: str) -> str | None:
    """Any text, a blank one too, or null."""
    return fields.text_or_blank(name) if fields.has(name) else None


def moment(fields: Fields, name: str) -> datetime:
    """A moment that must be there."""
    fields.require(name, MOMENT)
    return optional_moment(fields, name) or datetime.min.replace(tzinfo=UTC)


def optional_moment(fields: Fields, name: str) -> datetime | None:
    """A moment with its offset, or null."""
    text = optional_text(fields, name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    fields.fault(name, shown(text), MOMENT)
    return None


def boolean(fields: Fields, name: str) -> bool:
    """A JSON true or false that must be there."""
    node = fields.entries.values.get(name) if fields.has(name) else None
    if isinstance(node, Scalar) and node.boolean:
        return node.text == "true"
    fields.fault(name, "no such value", "true or false")
    return False


def free(fields: Fields, name: str) -> dict[str, Any]:
    """A mapping of anything that the record can hold."""
    value = fields.free(name)
    if any(UNSTORABLE.search(text) for text in _texts(value)):
        fields.fault(name, "a NUL character or half a surrogate pair", "whole characters")
        return {}
    return value


def free_list(fields: Fields, name: str) -> list[Any] | None:
    """A list of anything that the record can hold, or null."""
    if not fields.has(name):
        return None
    node = fields.entries.values[name]
    if not isinstance(node, Items):
        fields.fault(name, "no list", "a list, or null")
        return None
    value = free_value(node, fields.file, name, fields.problems)
    if any(UNSTORABLE.search(text) for text in _texts(value)):
        fields.fault(name, "a NUL character or half a surrogate pair", "whole characters")
        return None
    return list(value) if isinstance(value, list) else None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
