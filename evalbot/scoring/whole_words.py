"""Finding a folded text inside another one without cutting words or numbers."""

from __future__ import annotations

import functools
import re

from evalbot.scoring.normalise import is_dropped

CJK = "\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters of scripts that part no words, for a character class."""
_WORD = rf"[^\W_{CJK}]"
"""A letter or digit of a script that parts words by spaces."""
_SPACE = r"[\s·・*_\u200b-\u200d\u2060\ufeff-]*"
"""What may stand inside a clause: spaces, hyphens, middle dots, emphasis."""


def whole_word_pattern(folded: str, drops_punctuation: bool) -> re.Pattern[str]:
    """Pattern for a folded text in a text folded but for its punctuation.

    Punctuation and spaces may stand between its characters if the folding drops them;
    letters and digits that would lengthen its first or last word may not stand around it.
    """
    gap = f"[{_dropped_class()}]*" if drops_punctuation else ""
    return _between_words(folded, gap.join(re.escape(character) for character in folded))


def within_clauses_pattern(marked: str) -> re.Pattern[str]:
    """Pattern for a text that may be spaced otherwise, but bridges no punctuation it has not.

    为老师 does not stand in 为：“老师.
    """
    pieces = [piece for piece in re.split(f"[{_dropped_class()}]+", marked) if piece]
    bodies = [_SPACE.join(re.escape(character) for character in piece) for piece in pieces]
    return _between_words("".join(pieces), f"[{_dropped_class()}]*".join(bodies))


def _between_words(folded: str, body: str) -> re.Pattern[str]:
    before = f"(?<!{_WORD})" if re.match(_WORD, folded[0]) else ""
    after = f"(?!{_WORD})" if re.match(_WORD, folded[-1]) else ""
    return re.compile(f"{before}{body}{after}")


@functools.cache
def _dropped_class() -> str:
    """The dropped characters as ranges of a character class."""
    ranges: list[list[int]] = []
    # All of them lie in the first two planes and the tags of the fifteenth.
    places = (*range(0x20000), *range(0xE0000, 0xE0200))
    for place in (place for place in places if is_dropped(chr(place))):
        if ranges and place == ranges[-1][1] + 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)
