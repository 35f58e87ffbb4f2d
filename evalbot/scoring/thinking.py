"""Thinking text told apart from what a user would read.

Kept apart: `<think>`, `<thinking>`, `<thought>`, `<reasoning>`, `<seed:think>`, `[THINK]`,
`◁think▷` with their closing tags, in any case, and messages on channels
(`<|channel|>analysis<|message|>…<|end|>`), also with their markers worn off
(`analysis…assistantfinal…`). The scan goes forward only, so its time grows with the length
of the text alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Split(NamedTuple):
    """What was shown and what was thought.

    unclosed: thinking began and never ended; text is then what stood before it.
    """

    text: str
    reasoning: str
    unclosed: bool


_TAG = (
    r"<(?P<end>/?)(?P<word>think|thinking|thought|reasoning|seed:think)\s{0,9}>"
    r"|\[(?P<square_end>/?)think\]"
    r"|◁(?P<triangle_end>/?)think▷"
)
_TAGS = re.compile(_TAG, re.IGNORECASE)
_TAGS_AND_CODE = re.compile(
    rf"(?P<fence>^[ \t]{{0,3}}```[^\n]*\n)|(?P<code>`[^`\n]+`)|{_TAG}",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_END = re.compile(r"^[ \t]{0,3}```[ \t]*$", re.MULTILINE)

_CHANNEL_START = re.compile(
    r"\s*(?:<\|start\|>|<\|channel\|>|(?:analysis|commentary)<\|message\|>)"
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>[^<]{0,99})?(?:<\|channel\|>\s{0,9}|\A\s*)(?P<channel>[a-z]+)[^<\n]{0,99}"
    r"(?:<\|constrain\|>[^<\n]{0,99})?<\|message\|>"
    r"|<\|start\|>[^<\n]{0,99}<\|message\|>"
)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call)\|>|(?=<\|start\|>|<\|channel\|>)")
_WORN_CHANNELS = re.compile(
    r"\s*(?:analysis|commentary)(?P<reasoning>.*?)assistantfinal(?P<text>.*)", re.DOTALL
)


def split_thinking(raw: str) -> Split:
    """Take the thinking, and nothing else, out of a reply.

    A block ends at the first closing tag of its own kind. The first closing tag that nothing
    opened ends a block the chat template opened: all before it is thinking. Later ones end
    nested blocks where a block held opening tags of their kind, and are else text.
    A lone closing tag at the very end of an answer is only taken away.

    Tags inside code are text about tags: outside thinking in a closed fence or a `code span`,
    inside thinking only right between two backticks, for thoughts often leave code open.
    White space inside the text stays; at its ends it goes where something was taken out.
    """
    if _CHANNEL_START.match(raw):
        return _split_channels(raw)
    if worn := _WORN_CHANNELS.match(raw):
        return Split(worn["text"].strip(), worn["reasoning"].strip(), False)
    return _split_tags(raw)


def _split_tags(raw: str) -> Split:
    shown: list[str] = []
    thought: list[str] = []
    nested: dict[str, int] = {}  # opening tags met inside blocks: as many more may close
    lone_end_seen = False
    fences_may_close = True
    text_end = len(raw.rstrip())
    start = position = 0  # start: of the text not yet handed out
    while match := _TAGS_AND_CODE.search(raw, position):
        position = match.end()
        if match["fence"] is not None:
            end = _FENCE_END.search(raw, position) if fences_may_close else None
            fences_may_close = end is not None
            position = end.end() if end else position
            continue
        if match["code"] is not None:
            continue
        kind, closing = _read_tag(match)
        if not closing:
            shown.append(raw[start : match.start()])
            start = position
            end = _find_end(raw, position, kind, nested)
            if end is None:
                return Split("".join(shown).strip(), _joined([*thought, raw[start:]]), True)
            thought.append(raw[start : end.start()])
            start = position = end.end()
            continue
        owed = nested.get(kind, 0)
        if owed:
            nested[kind] = owed - 1
        elif lone_end_seen:
            continue
        lone_end_seen = lone_end_seen or not owed
        before = raw[start : match.start()]
        start = position
        if position >= text_end and thought:
            shown.append(before)
        else:
            thought += [*shown, before]
            shown = []
    if start == 0:
        return Split(raw, "", False)
    shown.append(raw[start:])
    return Split("".join(shown).strip(), _joined(thought), False)


def _find_end(raw: str, position: int, kind: str, nested: dict[str, int]) -> re.Match[str] | None:
    for match in _TAGS.finditer(raw, position):
        if raw[match.start() - 1] == "`" and raw[match.end() : match.end() + 1] == "`":
            continue
        found, closing = _read_tag(match)
        if found == kind and closing:
            return match
        if found == kind:
            nested[kind] = nested.get(kind, 0) + 1
    return None


def _read_tag(match: re.Match[str]) -> tuple[str, bool]:
    if match["word"] is not None:
        return match["word"].lower(), bool(match["end"])
    if match["square_end"] is not None:
        return "[", bool(match["square_end"])
    return "◁", bool(match["triangle_end"])


def _split_channels(raw: str) -> Split:
    """Only the `final` channel, and messages without a channel, are for the user."""
    shown: list[str] = []
    thought: list[str] = []
    unclosed = False
    position = 0
    while head := _CHANNEL.search(raw, position):
        end = _MESSAGE_END.search(raw, head.end())
        body = raw[head.end() : end.start() if end else len(raw)]
        position = end.end() if end else len(raw)
        if head["channel"] in (None, "final"):
            shown.append(body)
        else:
            thought.append(body)
            unclosed = end is None
    inner = _split_tags("".join(shown))
    return Split(
        inner.text.strip(), _joined([*thought, inner.reasoning]), unclosed or inner.unclosed
    )


def _joined(pieces: list[str]) -> str:
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip())
