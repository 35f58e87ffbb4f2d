"""Words that take back what stands beside them: it is wrong, all but that, ruled out."""

from __future__ import annotations

import re

from evalbot.scoring.negation import negations_in

_WRONG = (
    r"\b(?:wrong(?:ly)?|incorrect(?:ly)?|false(?:ly)?|mistaken|mistakes?|mistranslat\w+|inaccurate)\b"
    r"|[错錯誤](?![过過解])|误(?![解会])|不对|不對|不正确|不正確|不准确|不準確|[間间][違违]|[違违][いうっ]"
)
_EXCLUSION = (
    r"\b(?:but|except(?:ing)?|excluding|excludes?|excluded|rul(?:e|es|ed|ing)\sout|rather\sthan|instead\sof"
    r"|eliminat(?:e|es|ed|ing)|reject(?:s|ed|ing)?)\b"
    r"|排除|除外|以外|除了|除[いくき]|[错錯误誤違违]"
)
_FAULTS = re.compile(rf"{_WRONG}|\bshould\sbe\b|[应應][为為]|[应應][该該]是", re.IGNORECASE)
_DENIALS = re.compile(rf"{_WRONG}|{_EXCLUSION}", re.IGNORECASE)
_IS_NOT = re.compile(r"\bnot\b|n['’]t\b|不是|并非|並非|(?:では|じゃ)(?:な|あり)", re.IGNORECASE)


def finds_fault(text: str) -> bool:
    """Whether a remark calls something wrong, or puts it right."""
    return _FAULTS.search(text) is not None


def disowns(text: str) -> bool:
    """Whether a lead-in says that what follows is wrong, or is not what it seems."""
    return finds_fault(text) or _IS_NOT.search(text) is not None


def denials_in(text: str, language: str | None) -> tuple[int, ...]:
    """How often an NFKC text negates (see negations_in), and how often it denies otherwise."""
    return (*negations_in(text, language), len(_DENIALS.findall(text)))


def denies(text: str) -> bool:
    """Whether an NFKC text negates or denies anything, in any of the three languages."""
    return any(denials_in(text, None))
