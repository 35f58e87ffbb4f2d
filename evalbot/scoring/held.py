"""Whether a text that an answer holds really says the same there.

A match made by dropped punctuation (35 for 3.5, am for a.m.), and one inside a larger
number (5 in −5, 1 in 1/2, 三 in 十三), may say something else.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from operator import attrgetter

from evalbot.scoring.forms import Form, Target
from evalbot.scoring.numbers import Number, numbers_in
from evalbot.scoring.whole_words import CJK

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GAP = re.compile(r"(?<=(\w))[\W_]+(?=(\w))")
_TAIL = re.compile(r"(?<=[^\W\d_])[+#]+|")
"""What makes another name of a letter: C++, C#, A+."""
_CORE = re.compile(rf"\w(?:.*\w)?(?:{_TAIL.pattern})", re.DOTALL)
_CHARACTERS = re.compile(f"[{CJK}]")
_JOIN = r"(?:[^\w\s=≈→⇒]{1,3}|\s?[/^⁄×]\s?|\s[x*]\s|[ \u00a0\u202f])"
"""What joins digits to one number, fraction, range or power: 2 + 2 = 4 is none of them."""
_MORE = re.compile(rf"\d{_JOIN}(?=\d)|\d\s(?=[百千万萬亿億兆])|\w分[之の]")


def doubt(answer: Form, target: Target) -> str | None:
    """Why the answer, which holds the text, may not say it anywhere; None where it does.

    `numbers`: it says other numbers there; `punctuation`: other words are parted there.
    """
    numbers = numbers_in(answer.marked, answer.folder.language)
    places = target.pattern.finditer(answer.marked)
    first: str | None = None
    for place in places:
        reason = _doubt(answer.marked, *place.span(), numbers, target)
        if reason is None:
            return None
        first = first or reason
    return first


def parting(marked: str) -> str:
    """A text without the punctuation and spaces that never change what it says.

    Left are marks between digits, but not thousands separators, and that words are parted.
    """
    core = _CORE.search(_GAP.sub(_kept, _THOUSANDS.sub("", marked)))
    return core[0] if core else marked


def _kept(gap: re.Match[str]) -> str:
    ends = gap[1] + gap[2]
    if ends.isdecimal():
        return gap[0].strip() or " "
    return " " if ends.isalpha() and not _CHARACTERS.search(ends) else ""


def _doubt(
    marked: str, start: int, end: int, numbers: tuple[Number, ...], target: Target
) -> str | None:
    first = bisect_right(numbers, start, key=attrgetter("end"))
    touched = numbers[first : bisect_left(numbers, end, lo=first, key=attrgetter("start"))]
    if target.numbers or any(number.start < start or end < number.end for number in touched):
        said = [number.value for number in touched]
        if said != [number.value for number in target.numbers] or _continues(marked, start, end):
            return "numbers"
    tail = _TAIL.match(marked, end)
    if parting(marked[start : tail.end() if tail else end]) != parting(target.marked):
        return "punctuation"
    return None


def _continues(marked: str, start: int, end: int) -> bool:
    """Whether a number at the edge of a place goes on outside it: 10^3, 1/2, 三分之一."""
    around = _MORE.finditer(marked, max(0, start - 8), end + 8)
    return any(
        more.start() < start <= more.end() or more.start() < end <= more.end() for more in around
    )
