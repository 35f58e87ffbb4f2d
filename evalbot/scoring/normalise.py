"""The foldings that make two spellings of one text the same text (statistics.md, section h).

- `nfkc` strips variation selectors (葛󠄀城 = 葛城), then applies NFKC: full and half width,
  ligatures, circled numbers.
- `casefold` applies Unicode case folding (ß = ss).
- `punctuation` drops Unicode P*, Z*, control and format characters, and DROPPED_SYMBOLS.
- `script` turns Traditional Chinese Simplified, for Chinese targets only.

The prolonged sound mark ー is a letter and stays. NFKC makes ～ a tilde, a symbol, but
leaves 〜, punctuation: both go. Minus signs go with the dashes; that −5 is not 5 is the
business of the numbers cap, which looks before punctuation goes.

Japanese old and new characters (髙/高, 齋/斎, 邊/辺) are not folded: most stand in names,
and names are exact by default.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from evalbot.errors import InputError

FOLDINGS = ("nfkc", "casefold", "punctuation", "script")
DROPPED_SYMBOLS = "~∼−`"
"""Symbols that are punctuation in use: wave dashes, the minus sign, the backtick."""

Fold = Callable[[str], str]

_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@functools.lru_cache(maxsize=256)
def primary_language(tag: str | None) -> str | None:
    """The primary subtag of a BCP 47 tag: `zh` for `zh-Hant-TW`."""
    return re.split("[-_]", tag.strip().lower())[0] if tag else None


def nfkc(text: str) -> str:
    """NFKC without variation selectors, which come off first so that marks behind them compose."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _VARIATION_SELECTORS.sub("", text))


def fold_case(text: str) -> str:
    """Unicode case folding, with the letters that it takes apart composed again."""
    folded = text.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def drop_punctuation(text: str) -> str:
    """Text without punctuation, white space, control and format characters.

    A combining mark left behind joins the letter now before it, as NFC has it.
    """
    kept = text.translate(_dropped())
    return kept if len(kept) == len(text) else unicodedata.normalize("NFC", kept)


def to_simplified(text: str) -> str:
    """Traditional characters turned Simplified by OpenCC's t2s; other text unchanged."""
    if text.isascii():
        return text
    convert = _simplifier()
    try:
        simplified = convert(text)
    except UnicodeEncodeError:  # half a surrogate pair
        return to_simplified(_SURROGATES.sub("\ufffd", text))
    # A few characters take two steps (薴, 苧, 苎).
    return simplified if simplified == text else convert(simplified)


class _Dropped(dict[int, int | None]):
    """A table for str.translate that looks each character up once, when it is first met.

    Going through all of Unicode beforehand would take longer than most runs' scoring.
    """

    def __missing__(self, place: int) -> int | None:
        self[place] = None if is_dropped(chr(place)) else place
        return self[place]


@functools.cache
def _dropped() -> _Dropped:
    return _Dropped()


def is_dropped(character: str) -> bool:
    """Whether the punctuation folding drops a character."""
    category = unicodedata.category(character)
    return category[0] in "PZ" or category in ("Cc", "Cf") or character in DROPPED_SYMBOLS


@functools.cache
def _simplifier() -> Fold:
    import opencc

    convert: Fold = opencc.OpenCC("t2s").convert
    return convert


class Folder:
    """The foldings of a rubric, for one target language, applied in the listed order."""

    def __init__(self, folding: Iterable[str], language: str | None) -> None:
        """folding: names from FOLDINGS; language: BCP 47 tag of the target, None if unknown.

        Raises InputError for a name that is none.
        """
        self.language = language
        chinese = primary_language(language) == "zh"
        steps: Mapping[str, Fold] = {
            "nfkc": nfkc,
            "casefold": fold_case,
            "punctuation": drop_punctuation,
            "script": to_simplified,
        }
        listed = tuple(folding)
        for name in listed:
            if name not in steps:
                raise InputError(f"folding {name!r} is none of {', '.join(FOLDINGS)}")
        self.names = tuple(name for name in listed if name != "script" or chinese)
        """The foldings that really apply."""
        self._steps = tuple(steps[name] for name in self.names)
        self._marked_steps = tuple(steps[name] for name in self.names if name != "punctuation")

    @property
    def drops_punctuation(self) -> bool:
        """Whether punctuation and spaces are nothing."""
        return "punctuation" in self.names

    def fold(self, text: str) -> str:
        """Text with every folding applied."""
        for step in self._steps:
            text = step(text)
        return text

    def fold_marked(self, text: str) -> str:
        """Text with every folding but punctuation applied: where words end is still seen."""
        for step in self._marked_steps:
            text = step(text)
        return text


def is_traditional(text: str) -> bool:
    """Whether simplifying changes a Chinese text."""
    return to_simplified(text) != text
