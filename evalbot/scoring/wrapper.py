"""Wrapper text around an answer: lead-ins, labels, quotes, fences, bold, remarks.

A lead-in must speak of a translation or an answer, a remark must stand on lines of its own,
quotes must be one pair around everything, and something must be left. One that disowns the
text (this translation is wrong: …) belongs to the answer. What looks like a
wrapper but is not surely one is left and `suspected`. Scorers read an answer both ways and
keep the reading nearer to a reference, so content that looks like a wrapper costs nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evalbot.scoring.denial import disowns, finds_fault


class Unwrapped(NamedTuple):
    """removed: kinds of wrapper taken off, outermost first; suspected: more may be left."""

    text: str
    removed: tuple[str, ...]
    suspected: bool

    @property
    def flagged(self) -> bool:
        """Whether the answer came in a wrapper, surely or perhaps."""
        return bool(self.removed) or self.suspected


_THING = (
    r"(?:译文|譯文|翻译|翻譯|中文|答案|回答|結果|结果|翻訳|訳文|日本語訳|中国語訳|英訳|和訳|中訳|答え"
    r"|translation|translated (?:text|sentence|version)|answer|result)"
)
_OPENER = (
    r"(?:(?:当然(?:可以)?|當然(?:可以)?|好的?|没问题|可以|はい|もちろん(?:です)?|承知しました|かしこまりました"
    r"|了解しました|sure(?: thing)?|certainly|of course|okay|ok|absolutely)"
    r"[!,.。，、！~～ ]{1,3}\s{0,3})"
)
_LEAD_IN = re.compile(
    rf"{_OPENER}?(?P<start>(?:以下是|以下為|以下为|下面是|这是|這是|以下は|以下が|以下に|こちらが|こちらは"
    rf"|here is|here's|here’s|below is|the following is|this is)"
    rf"[^\n:：]{{0,40}}?{_THING}[^\n:：]{{0,30}}"
    rf"|(?:[这這该該此][^\n:：，。]{{0,8}}的)?{_THING}{{1,2}}(?:如下|是|为|為|は(?:以下の通り|次の通り)(?:です)?)"
    rf"|(?:the|your) (?:[a-z]+ ){{0,3}}{_THING}[^\n:：]{{0,40}}?"
    r" (?:is|reads|would be)(?: as follows)?"
    r")[:：]\s*",
    re.IGNORECASE,
)
_LABEL_NAME = (
    r"(?:译文|譯文|翻译(?:结果)?|翻譯(?:結果)?|中文(?:翻译|译文)?|简体中文|中文翻譯|答案|回答|最终(?:答案|译文|翻译)"
    r"|翻訳(?:結果|文)?|訳文?|中国語訳?|日本語訳|答え|最終訳"
    r"|(?:(?:final|chinese|japanese|english|simplified chinese) )?(?:translation|answer)"
    r"|chinese|simplified chinese|translated text)"
)
_LABEL = re.compile(
    rf"(?:#{{1,6}}[ \t]+)?(?:\*\*|__)?[【\[]?{_LABEL_NAME}(?:[ \t]?[（(][^\n()（）]{{1,30}}[)）])?"
    r"(?:[:：](?:\*\*|__)?|(?:\*\*|__)[:：]|[】\]][:：]?)\s*",
    re.IGNORECASE,
)
_HEADING = re.compile(rf"(?:#{{1,6}}[ \t]+|\*\*){_LABEL_NAME}(?:\*\*)?[ \t]*\n\s*", re.IGNORECASE)
_SOURCE_LINE = re.compile(
    r"(?:\*\*)?(?:原文|日文|日语|日語|日本語|source(?: text)?|original(?: text)?|japanese)"
    r"(?:\*\*)?[:：](?:\*\*)?[^\n]{1,2000}\n\s*",
    re.IGNORECASE,
)
_REMARK = (
    r"(?:[（(\[【*_>\-]{0,3}(?:译注|譯注|译者注|訳注|注释|注解|注|備考|备注|说明|說明|解释|解説|解说|補足|補充|补充"
    r"|※|notes?|explanation|breakdown|n\.b\.)(?:\*\*)?[:：※]"
    r"|(?:please )?(?:let me know|feel free)|i hope this|hope this"
    r"|if you (?:need|have|want|would)[^\n]{0,80}(?:let me know|feel free|just ask|i can)"
    r"|希望(?:这|這|以上|对|對)[^\n]{0,12}(?:帮助|幫助|有用)"
    r"|如果?(?:你|您)?(?:还|還|有|需)[^\n]{0,30}(?:告诉我|告訴我|告知|随时|隨時|联系我|提出)"
    r"|ご不明な|お役に立て|(?:何か|他に)[^\n]{0,12}(?:質問|要望|お知らせ|お手伝い))"
)
_REMARK_LINES = re.compile(rf"\n[ \t]*{_REMARK}", re.IGNORECASE)
_SUSPECT = re.compile(
    rf"{_REMARK}|(?:^|\n)[ \t]*(?:{_LEAD_IN.pattern}|{_LABEL.pattern})"
    rf"|^{_OPENER}[ \t]*\n"
    r"|\n[ \t]*(?:或者?|或者说|or|alternatively|または|あるいは)[:：,，、\n]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:```|~~~)[^\n`]{0,30}\n(.*?)\n?[ \t]*(?:```|~~~)", re.DOTALL)
_TAGGED = re.compile(
    r"<(answer|translation|output|result)>\s*(.*?)\s*</\1>", re.DOTALL | re.IGNORECASE
)
_PAIRS = {
    "“": "”",
    "‘": "’",
    '"': '"',
    "'": "'",
    "「": "」",
    "『": "』",
    "«": "»",
    "„": "“",
    "＂": "＂",
    "`": "`",
}
_BOLD = ("***", "**", "__", "*", "_")
_QUOTED_LINES = re.compile(r">[^\n]*(?:\n>[^\n]*)*")
_END_MARKS = ("<|im_end|>", "</s>", "<|endoftext|>", "<|eot_id|>")
"""What a chat template ends a message with."""
_MOST_LAYERS = 8

_PERHAPS = re.compile(
    r"^[\s“‘\"'「『«„＂`*_#~<【>]|[\s>]$|[\n:：]|希望|如|let me|hope this|feel free|役に立|不明",
    re.IGNORECASE,
)
"""Nothing is wrapped where this finds nothing; most answers stop here."""


def unwrap(text: str) -> Unwrapped:
    """Take off wrappers, layer by layer, until the innermost text is reached."""
    if not _PERHAPS.search(text):
        return Unwrapped(text, (), False)
    removed: list[str] = []
    text = text.strip()
    for _ in range(_MOST_LAYERS):
        layer = _peel(text)
        if layer is None:
            break
        kind, text = layer
        removed.append(kind)
    return Unwrapped(text, tuple(removed), _SUSPECT.search(text) is not None)


def _peel(text: str) -> tuple[str, str] | None:
    """One layer taken off, with its kind; None where none is left or nothing would be left."""
    for mark in _END_MARKS:
        if text.endswith(mark) and (inner := text.removesuffix(mark).strip()):
            return "end_mark", inner
    for kind, start in (("lead_in", _LEAD_IN), ("label", _LABEL), ("label", _HEADING)):
        match = start.match(text)
        if match is None or disowns(match[match.lastgroup or 0]):
            continue
        if inner := text[match.end() :].strip():
            return kind, inner
    if (match := _SOURCE_LINE.match(text)) and _LABEL.match(text, match.end()):
        return "source", text[match.end() :]
    if (match := _REMARK_LINES.search(text)) and (inner := text[: match.start()].strip()):
        remark = text[match.start() :]
        if not finds_fault(remark):
            return "remark", inner
    for kind, around, group in (("fence", _FENCE, 1), ("tag", _TAGGED, 2)):
        if (match := around.fullmatch(text)) and (inner := match[group].strip()):
            return kind, inner
    if _QUOTED_LINES.fullmatch(text) and (inner := re.sub(r"(?m)^> ?", "", text).strip()):
        return "quotes", inner
    if quoted := _inside_quotes(text):
        return "quotes", quoted
    if bold := _inside_bold(text):
        return "bold", bold
    return None


def _inside_quotes(text: str) -> str | None:
    """What one pair of quotes encloses, when it is the same pair at both ends."""
    if len(text) < 3 or _PAIRS.get(text[0]) != text[-1]:
        return None
    opening, closing, inner = text[0], text[-1], text[1:-1]
    depth = 1
    for character in inner:
        if character == closing:
            depth -= 1
        elif character == opening:
            depth += 1
        if depth == 0:
            return None
    return inner.strip() or None


def _inside_bold(text: str) -> str | None:
    for mark in _BOLD:
        inner = text[len(mark) : -len(mark)]
        if inner.strip() and text == f"{mark}{inner}{mark}" and mark[0] not in inner:
            return inner.strip()
    return None
