"""Small words for messages."""

from __future__ import annotations


def count(number: int, word: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def in_a_sentence(title: str) -> str:
    """`Pass rate` as it stands inside a sentence, `pass rate`; `BLEU score` and `F1` stay."""
    first, space, rest = title.partition(" ")
    return first.lower() + space + rest if first.istitle() and first.isalpha() else title


def duration(seconds: float | None) -> str:
    """`2 min 05 s`; a dash where it is not known."""
    if seconds is None:
        return "–"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minute:02d} min"
    return f"{minute} min {second:02d} s" if minute else f"{second} s"


def pace(per_second: float | None) -> str:
    """`2.4/s`, or `12.0/min` where it is slow; a dash where it is not known."""
    if per_second is None:
        return "–"
    return f"{per_second:.1f}/s" if per_second >= 1 else f"{per_second * 60:.1f}/min"
