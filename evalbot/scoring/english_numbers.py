"""Number words of English, as plain decimal notation."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_IRREGULAR = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "once": 1,
    "twice": 2,
    "dozen": 12,
}
_WORDS = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    **{f"{word}th": value for value, word in enumerate(_ONES)},
    **{f"{word[:-1]}ieth": 10 * value for value, word in enumerate(_TENS, start=2)},
    **_IRREGULAR,
}
_WEAK = frozenset(("one", "ones", "first", "once", "second", "seconds"))
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]

_ANY = "|".join(sorted(_WORDS, key=len, reverse=True))
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})[\s-](?:{_ANY})|(?:{_ANY})s?)"
_SCALE = rf"(?:{'|'.join(_SCALES)})(?:s|th)?"
_NUMBER = re.compile(
    rf"(?<!\d\s)\b(?P<words>(?:{_BELOW_100}\s)?{_SCALE}"
    rf"(?:(?:\sand)?\s(?:{_BELOW_100}\s)?{_SCALE}){{0,5}}(?:(?:\sand)?\s{_BELOW_100})?"
    rf"|{_BELOW_100})\b(?P<percent>\s(?:percent|per\scent))?"
    rf"|\b(?P<half>half)\b"
    rf"|\b(?P<month>{'|'.join(_MONTHS)})\b(?=\s\d)|(?<=\d\s)(?P<month_after>{'|'.join(_MONTHS)})\b",
    re.IGNORECASE,
)


def english_numbers(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """Value, whether it is weak (see numbers.py), start and end."""
    for match in _NUMBER.finditer(text):
        if match["words"]:
            words = [word for word in re.split(r"[\s-]+", match["words"].lower()) if word != "and"]
            value = _value(words)
            weak = match["words"].lower() in _WEAK or (
                len(words) == 1 and _scale(words[0]) is not None
            )
            yield f"{value}{'%' if match['percent'] else ''}", weak, *match.span()
        elif match["half"]:
            yield "0.5", False, *match.span()
        else:
            month = match["month"] or match["month_after"]
            yield str(_MONTHS.index(month.lower()) + 1), False, *match.span()


def _value(words: list[str]) -> int:
    total = section = 0
    for word in words:
        scale = _scale(word)
        if scale == 100:
            section = (section or 1) * 100
        elif scale:
            total += (section or 1) * scale
            section = 0
        else:
            section += _WORDS[word] if word in _WORDS else _WORDS[word.removesuffix("s")]
    return total + section


def _scale(word: str) -> int | None:
    return _SCALES.get(word.removesuffix("s").removesuffix("th"))
