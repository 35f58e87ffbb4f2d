"""Text from elsewhere on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text whose control characters cannot steer the terminal or hide what is shown."""
    return "".join(
        character if character in "\n\t" or character.isprintable() else "\ufffd"
        for character in text
    )
