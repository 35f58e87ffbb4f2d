"""The choice a reply settles on."""

from __future__ import annotations

import re

from evalbot.scoring.denial import denies
from evalbot.scoring.exact import equal_text
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import Form, PreparedCase, Target
from evalbot.scoring.whole_words import whole_word_pattern

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LABEL = re.compile(r"\s*[(\[]?([A-Z])[)\].:、]\s*(?=\S)")
_ALONE = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_AND = r"[\s)*]{0,3}(?:\bor\b|\band\b|/|&|,|、|或者?|和|及|か|と)[\s(*]{0,3}"
_RUN = rf"(?:[A-Z](?![A-Za-z]){_AND})*[A-Z](?![A-Za-z])"
"""One letter, or several in a row (B or C)."""
_ONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_LEADING = re.compile(rf"[\s*_(\[「【]*({_RUN})(?:[*_\s]*[)\].:、,」】]|\s*$|\s*\n)")
_STATED = re.compile(
    r"(?i:answer|choice|option|choose|pick|select|答案|选项?|選項?|选择|選択肢?|答え|正解|回答|正しいのは)"
    r"(?i:\s?(?:is|was|should\sbe|would\sbe|option|choice|是|为|為|应该是|應該是|は|が|选|選)){0,3}"
    rf"[\s:*_(\[「【\"'“]{{0,6}}(?!A\s(?!or\b|and\b|is\b|because\b)[a-z])({_RUN}|[a-z](?=[\s).。*]*$))"
)
_STANDING = re.compile(r"(?<![A-Za-z'’])(?!A\s(?!or\b|and\b)[a-z]|I['’\s])([A-Z])(?![A-Za-z'’])")


def choice(case: PreparedCase, answer: Readings) -> Finding:
    """The chosen choice is a reference: top, an acceptable: middle, any other: lowest.

    Choices are lettered A, B, C… in their order; references name the letter or the text.
    A reply that settles on no choice, or on two different ones, or that denies anything
    outside the choice's own text (A is wrong, A以外), is left to a person.
    """
    chosen = _chosen(case, answer.whole)
    if chosen and denies(_around(case, answer.whole, chosen)):
        return Finding(None)
    if chosen is None:
        # A reference that is no letter and no choice: the reply may still be just that.
        return equal_text(case, answer) or Finding(None)
    for target in (*case.accepted, *case.traps):
        if _letter_of(case, target) == chosen:
            return Finding(case.verdicts.for_text(target.kind), target, answer.whole)
    return Finding(case.verdicts.lowest if case.accepted else None)


def _chosen(case: PreparedCase, answer: Form) -> str | None:
    """The letter of the one choice a reply settles on, None if it does not."""
    texts = _choice_texts(case)
    for letter, text in texts.items():
        if text.folded == answer.folded:
            return letter
    letters = set(_letters(answer.plain)) & set(list(texts) or _LETTERS)
    named = {letter for letter, text in texts.items() if _names(answer, text)}
    # A choice inside another one is not meant where the longer one is named.
    named -= {
        letter
        for letter in named
        if any(texts[letter].folded in texts[other].folded and letter != other for other in named)
    }
    if len(letters) == 1 and (not named or letters <= named):
        return letters.pop()
    if not letters and len(named) == 1:
        return named.pop()
    return None


def _letters(reply: str) -> list[str]:
    """Letters a reply names, from the clearest way of naming that it uses."""
    reply = reply.strip()
    if alone := _ALONE.fullmatch(reply):
        return [alone[1].upper()]
    if stated := _STATED.findall(reply):
        return [letter.upper() for run in stated for letter in _ONE.findall(run)]
    if leading := _LEADING.match(reply):
        return _ONE.findall(leading[1])
    return _STANDING.findall(reply)


def _around(case: PreparedCase, answer: Form, letter: str) -> str:
    """The reply without the text of the choice with this letter."""
    text = _choice_texts(case).get(letter)
    return _pattern(text).sub(" ", answer.marked) if text else answer.marked


def _names(answer: Form, text: Form) -> bool:
    return _pattern(text).search(answer.marked) is not None


def _pattern(text: Form) -> re.Pattern[str]:
    return whole_word_pattern(text.folded, text.folder.drops_punctuation)


def _choice_texts(case: PreparedCase) -> dict[str, Form]:
    """Letter to the choice's text, without a letter of its own in front."""
    texts: dict[str, Form] = {}
    for letter, text in zip(_LETTERS, case.case.choices, strict=False):
        label = _LABEL.match(text)
        bare = text[label.end() :] if label and label[1] == letter else text
        form = Form(bare, case.folder)
        if form.folded:
            texts[letter] = form
    return texts


def _letter_of(case: PreparedCase, target: Target) -> str | None:
    """The choice a text of the case names, by letter or by its own text."""
    for letter, text in _choice_texts(case).items():
        if target.folded in (text.folded, case.folder.fold(f"{letter} {text.text}")):
            return letter
    alone = _ALONE.fullmatch(target.plain)
    return alone[1].upper() if alone else None
