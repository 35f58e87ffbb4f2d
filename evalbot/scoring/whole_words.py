"""Finding a folded text inside another one without cutting words or numbers."""

from __future__ import annotations

import functools
import re

from evalbot.scoring.normalise import is_dropped

_CJK = "\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = rf"[^\W_{_CJK}]"
"""A letter or digit of a script that parts words by spaces."""


def whole_word_pattern(folded: str, drops_punctuation: bool) -> re.Pattern[str]:
    """Pattern for a folded text in a text folded but for its punctuation.

    Punctuation and spaces may stand between its characters if the folding drops them;
    letters and digits that would lengthen its first or last word may not stand around it.
    """
    gap = f"[{_dropped_class()}]*" if drops_punctuation else ""
    body = gap.join(re.escape(character) for character in folded)
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
