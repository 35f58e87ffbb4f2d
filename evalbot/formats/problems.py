"""Collecting every problem of a file before telling any of them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable

from evalbot.errors import Problem, ProblemsError

SHOWN_CHARACTERS = 60


class Problems:
    """Gathers problems, so that all are told at once."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, place: str, field: str, found: str, expected: str) -> None:
        """Note one problem; the arguments are those of Problem."""
        self._found.append(Problem(place, field, found, expected))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note problems that were found elsewhere."""
        self._found.extend(problems)

    def __len__(self) -> int:
        return len(self._found)

    def raise_if_any(self) -> None:
        """Raise ProblemsError with everything noted so far."""
        if self._found:
            raise ProblemsError(self._found)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name most like this one, or None where none is alike (cutoff from 0 to 1)."""
    by_folded = {word.casefold(): word for word in known}
    hits = difflib.get_close_matches(name[:100].casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[hits[0]] if hits else None


def one_of(choices: Iterable[str], written: str) -> str:
    """'one of a, b, c', and which of them was probably meant."""
    names = list(choices)
    close = nearest(written, names)
    hint = f" (did you mean {close}?)" if close else ""
    return f"one of {', '.join(names)}{hint}"


def shown(text: str) -> str:
    """The text in double quotes, on one line and cut short, safe to print anywhere."""
    if len(text) > SHOWN_CHARACTERS:
        text = text[:SHOWN_CHARACTERS] + "…"
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.encode("utf-8", "backslashreplace").decode("utf-8")
