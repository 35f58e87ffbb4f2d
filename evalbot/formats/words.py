"""Small words for messages."""

from __future__ import annotations


def count(number: int, word: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
