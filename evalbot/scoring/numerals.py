"""The value of a written number: Arabic digits, Chinese and Japanese numerals, both mixed."""

from __future__ import annotations

import functools
import re
from decimal import Decimal, localcontext

DIGITS = {
    **{character: value for value, character in enumerate("〇一二三四五六七八九")},
    **{character: value for value, character in enumerate("零壹贰叁肆伍陆柒捌玖")},
    **{character: value for value, character in enumerate("零壱弐参肆伍陸柒捌玖")},
    "貳": 2,
    "叄": 3,
    "两": 2,
    "兩": 2,
    "○": 0,
}
SMALL_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
BIG_UNITS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}

_TOKEN = re.compile(
    r"(?P<arabic>\d[\d,]*(?:\.\d+)?)"
    rf"|(?P<digits>[{''.join(DIGITS)}]+(?:[点點][{''.join(DIGITS)}]+)?)"
    rf"|(?P<small>[{''.join(SMALL_UNITS)}])|(?P<big>[{''.join(BIG_UNITS)}])"
)


@functools.lru_cache(maxsize=4096)
def value_of(numeral: str, colloquial: bool = True) -> str:
    """The value in plain decimal notation, so that equal numbers are equal texts.

    Digits alone keep their decimals (3.50 is not 3.5: it may be a version) and, from three
    digits on, their leading zeros (007 is a code, 09 a date). colloquial: 三百五 is 350,
    as in Chinese; in Japanese it is 305.
    """
    tokens = list(_TOKEN.finditer(numeral))
    if len(tokens) == 1 and tokens[0].lastgroup in ("arabic", "digits"):
        return _plain(_digits(tokens[0]))
    with localcontext(prec=len(numeral) + 40):  # exact: no unit adds more digits than that
        return format(_sum(tokens, colloquial).normalize(), "f")


def _sum(tokens: list[re.Match[str]], colloquial: bool) -> Decimal:
    total = section = Decimal(0)  # section: what stands since the last big unit
    pending: Decimal | None = None  # digits waiting for their unit
    last_unit = last_big = 0
    for token in tokens:
        if token.lastgroup in ("arabic", "digits"):
            text = _digits(token)
            pending = Decimal(text)
            if text.startswith("0"):  # 零 or 〇 says that no unit was left out
                last_unit = 0
        elif token.lastgroup == "small":
            last_unit = SMALL_UNITS[token[0]]
            section += (1 if pending is None else pending) * last_unit
            pending = None
        else:
            last_unit = unit = BIG_UNITS[token[0]]
            section += pending or 0
            pending = None
            if unit > last_big:
                total = (total + section or Decimal(1)) * unit
            else:
                total += section * unit
            section, last_big = Decimal(0), unit
    if pending is not None:
        short = colloquial and last_unit >= 100 and tokens[-1].lastgroup == "digits"
        section += pending * last_unit / 10 if short and pending < 10 else pending
    return total + section


def _digits(token: re.Match[str]) -> str:
    if token.lastgroup == "arabic":
        return token[0].replace(",", "")
    return "".join("." if mark in "点點" else str(DIGITS[mark]) for mark in token[0])


def _plain(digits: str) -> str:
    whole, point, decimals = digits.partition(".")
    if len(whole) < 3 or not whole.startswith("0"):
        whole = whole.lstrip("0") or "0"
    return f"{whole}{point}{decimals}"
