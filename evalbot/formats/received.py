"""Text that a server sent, made such that every database can keep it."""

from __future__ import annotations

LONGEST_DETAIL = 500


def clean_text(text: str) -> str:
    """Joins halves of surrogate pairs; a lone half, and NUL, become U+FFFD.

    PostgreSQL cannot store NUL, and no UTF-8 text can hold a lone surrogate.
    """
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def shorten(text: str) -> str:
    """One line, short enough to show: for details, names and reasons."""
    text = clean_text(" ".join(text[: 10 * LONGEST_DETAIL].split()))
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"
