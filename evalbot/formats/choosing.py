"""Choosing things of the config by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from evalbot.errors import NotFoundError
from evalbot.formats.problems import nearest

Thing = TypeVar("Thing")


def chosen(known: Mapping[str, Thing], names: Sequence[str], what: str) -> tuple[Thing, ...]:
    """The things of these names, each once, or all where none is named.

    NotFoundError, with the nearest name, for one that evalbot.yaml has not; what: their word.
    """
    for name in names:
        if name not in known:
            close = nearest(name, known)
            hint = f"; did you mean {close}?" if close else f"; there are: {', '.join(known)}"
            raise NotFoundError(f"evalbot.yaml has no {what} {name!r}{hint}")
    return tuple(known[name] for name in dict.fromkeys(names)) or tuple(known.values())
