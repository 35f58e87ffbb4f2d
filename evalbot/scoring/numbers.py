"""The numbers of a text, and whether two texts say different ones.

Read: Arabic digits with decimals, thousands separators, a minus sign (also 零下, 负,
マイナス, minus) and percent (also 百分之, パーセント, percent); Chinese and Japanese numerals;
English number words up to billions, ordinals, months beside a day. 3500万, 三千五百万 and
35,000,000 are one number; −5 and 5, 50 % and 50, 3.5 and 35 are two.

Numerals that mostly do not count are *weak*: 一 before anything but a unit of time, place
or value (一下, 一起, 一个), 百, 千, 万 without a digit and a unit (千万 for "by all means"),
十分, English "one" and "a hundred". A weak number may be missing on the other side, but may
stand for a strong one, and two different weak ones of 10 and more are a difference. Words
with a numeral in them that never counts (三明治, 四川, 千方百计) are no numbers at all.

A false alarm costs a look by a person, a missed change a wrong verdict: where in doubt,
a number counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evalbot.scoring.english_numbers import english_numbers
from evalbot.scoring.normalise import primary_language
from evalbot.scoring.numerals import BIG_UNITS, DIGITS, SMALL_UNITS, value_of


class Number(NamedTuple):
    """value: plain decimal notation with sign and percent; start, end: where it stands."""

    value: str
    weak: bool
    start: int
    end: int


_DIGITS = "".join(DIGITS)
_UNITS = "".join((*SMALL_UNITS, *BIG_UNITS))
_FORMAL = "壹贰貳叁叄肆伍陆陸柒捌玖拾佰仟壱弐参"
_PLAIN_DIGITS = "".join(mark for mark in _DIGITS if mark not in _FORMAL)
_PLAIN_UNITS = "".join(mark for mark in _UNITS if mark not in _FORMAL)
_ARABIC = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_CHINESE = rf"[{_PLAIN_DIGITS}]+(?:[点點](?![{_DIGITS}]*[{_UNITS}分])[{_PLAIN_DIGITS}]+)?"
_COUNT = rf"(?:{_ARABIC}|{_CHINESE})"
_NUMERAL = rf"(?:{_COUNT}?[{_PLAIN_UNITS}]+)+{_COUNT}?|{_COUNT}"
_FORMAL_NUMERAL = rf"[{_DIGITS}{_UNITS}]*[{_FORMAL}][{_DIGITS}{_UNITS}]+"

# Words whose numerals say nothing about how many.
_NOT_NUMBERS = (
    "三明治|三文鱼|三文魚|三角|三菱|三重県|三味線|三日月|三番五次|三心二意|再三|"
    "二手|二维|二維|二次元|二日酔い|二度と|不二|独一无二|獨一無二|说一不二|"
    "四川|四处|四處|四周|四季|四面八方|四国|四苦八苦|五颜六色|五花八门|五十音|"
    "六本木|七上八下|乱七八糟|亂七八糟|七夕|七味|八卦|八百屋|八王子|八つ当たり|九州|九龙|九龍|"
    "十字|十足|十全|百姓|百货|百貨|百合|百科|百度|百分点|百分點|千方百计|千方百計|千变万化|千葉|千代田|"
    "万一|萬一|万能|萬能|万事|萬事|万物|萬物|万岁|萬歲|万歳|万圣|萬聖|万年筆|万引き|"
    "接二连三|接二連三|说三道四|統一|统一|唯一|零食|零件|零售|零钱|零錢|零星|凋零|"
    "半夜|半路|多半|大半|夜半|前半|后半|後半"
)
_STARTS = "".join(sorted({word[0] for word in _NOT_NUMBERS.split("|")}))
_NUMBER = re.compile(
    rf"(?=[-‐−–\d半负負氷マmnふみよむなやこ{_DIGITS}{_UNITS}{_STARTS}])"  # most places fail here
    rf"(?:(?:{_NOT_NUMBERS})"
    r"|(?P<sign>(?<![0-9A-Za-z)\]])(?<!\d[月日号號时時点點分年元円人名个個章页頁楼樓层層度%])[-‐−–](?=\d)|(?:零下|氷点下|负|負|マイナス|(?:minus|negative)\s)\s?)?"
    r"(?P<share>[百千万]分之)?"
    rf"(?:(?P<formal>{_FORMAL_NUMERAL})|(?P<numeral>{_NUMERAL})|(?P<half>半))"
    r"(?P<scale>k(?![A-Za-z])|\s(?:hundred|thousand|million|billion|trillion)s?\b)?"
    r"(?P<percent>\s?(?:[%‰]|パーセント|percent|per cent))?"
    r"|(?P<kana>ふた(?:つ|り)|みっつ|よっつ|むっつ|ななつ|やっつ|ここのつ))",
    re.IGNORECASE,
)
_HINT = re.compile(rf"[\d半ふみよむなやこ{_DIGITS}{_UNITS}]")
_RAISED = re.compile(r"(?<=\d)(?=[¹²³¼-¾⁰-⁹₀-₉⅐-⅟①-⒛⓪-⓿❶-➓㉑-㉟㊱-㊿])")
_KANA = {"ふた": "2", "みっ": "3", "よっ": "4", "むっ": "6", "なな": "7", "やっ": "8", "ここ": "9"}
_SHARES = {"百": "%", "千": "‰", "万": "‱"}
_SCALES = {"k": "千", "h": "百", "th": "千", "m": "百万", "b": "十亿", "tr": "兆"}
_COUNTED = re.compile(
    r"[月日号號元円圆圓年岁歳歲倍章階楼樓层層分秒人个個枚匹台件美米公里ドルキkm$€£度%]"
)
"""What follows a unit that really counts (千円, 百人)."""
_DATED = re.compile(r"[月日号號元円岁歳歲倍章階楼樓层層秒%]")
"""What follows 一 where it is a number and not an article."""
_ORDINAL_BEFORE = re.compile(r"(?:[第周週初]|星期|礼拜|禮拜|[几幾数數近约約上])$")


def set_apart(text: str) -> str:
    """Raised, circled and fractional numerals parted from digits before them.

    To be done before NFKC, which makes 10² 102 and 1½ 11⁄2.
    """
    return _RAISED.sub(" ", text)


def numbers_in(text: str, language: str | None) -> tuple[Number, ...]:
    """The numbers of an NFKC text, in the order they stand.

    language: BCP 47 tag of the text; number words of English are read in English and in
    unknown languages.
    """
    primary = primary_language(language)
    found = list(_written(text, primary != "ja")) if _HINT.search(text) else []
    if primary not in ("zh", "ja"):
        found += [Number(*number) for number in english_numbers(text)]
        found.sort(key=lambda number: number.start)
    return tuple(found)


def numbers_differ(one: Iterable[Number], other: Iterable[Number]) -> bool:
    """Whether one text says a number that the other does not say, or in another order."""
    one, other = tuple(one), tuple(other)
    if not one and not other:
        return False
    mine, theirs = [[number.value for number in side] for side in (one, other)]
    if mine == theirs:
        return False
    if not (_covers(theirs, _strong(one)) and _covers(mine, _strong(other))):
        return True
    return bool(_many(one) - set(theirs)) and bool(_many(other) - set(mine))


def number_changed(answer: str, reference: str, language: str | None) -> bool:
    """Whether two NFKC texts say different numbers."""
    return numbers_differ(numbers_in(answer, language), numbers_in(reference, language))


def _strong(numbers: Iterable[Number]) -> list[str]:
    return [number.value for number in numbers if not number.weak]


def _many(numbers: Iterable[Number]) -> set[str]:
    return {number.value for number in numbers if number.weak and number.value != "1"}


def _covers(longer: list[str], shorter: list[str]) -> bool:
    """Whether shorter can be had from longer by leaving numbers out."""
    rest = iter(longer)
    return all(value in rest for value in shorter)


def _written(text: str, colloquial: bool) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        numeral = match["numeral"] or match["formal"]
        if numeral:
            value = value_of(numeral, colloquial)
            weak = _is_weak(match, numeral, text)
        elif match["half"]:
            # Half past is thirty minutes, else it is one half.
            past = text[match.start() - 1 : match.start()] in ("点", "點", "时", "時")
            value, weak = ("30" if past else "0.5"), False
        elif match["kana"]:
            value, weak = _KANA[match["kana"][:2]], False
        else:
            continue
        if match["scale"]:
            scale = match["scale"].strip().lower()
            value = value_of(value + (_SCALES.get(scale[:2]) or _SCALES[scale[0]]))
        sign = "-" if match["sign"] else ""
        share = _SHARES[match["share"][0]] if match["share"] else ""
        if match["percent"]:
            share = "‰" if "‰" in match["percent"] else "%"
        yield Number(f"{sign}{value}{share}", weak, match.start(), match.end())


def _is_weak(match: re.Match[str], numeral: str, text: str) -> bool:
    if match["sign"] or match["share"] or match["percent"]:
        return False
    before = text[max(0, match.start() - 2) : match.start()]
    after = text[match.end() : match.end() + 2]
    if numeral == "一":
        return not (_DATED.match(after) or _ORDINAL_BEFORE.search(before))
    if numeral == "十":
        return after.startswith("分") and after != "分钟" and after != "分鐘"
    if all(mark in "百千万萬亿億兆" for mark in numeral):
        return not (_COUNTED.match(after) or _ORDINAL_BEFORE.search(before))
    return False
