"""Answers that speak to their grader: flagged, never changed, and the verdict stands."""

from __future__ import annotations

import re

INJECTION = "injection"

PATTERNS = (
    r"""["']verdict["']\s*:""",
    r"^[^\w\n]{0,40}(?:grade|verdict)\s{0,9}[:：]",
    r"\[?\bend of (?:the )?(?:answer|response|submission)\b|\[/?(?:end )?(?:answer|response)\]",
    r"^[^\w\n]{0,40}(?:grader|judge|evaluator|examiner|assistant|system)\s{0,9}[:：]",
    r"\bignore (?:all |any )?(?:of )?(?:the |your )?(?:previous|above|prior|earlier) "
    r"(?:instructions|rules|text)",
    r"\b(?:give|award|assign|output|return)\b.{0,40}\b(?:full|highest|top|maximum|best) "
    r"(?:marks|score|grade|credit|verdict)",
    r"(?:忽略|无视|無視)(?:以上|之前|前面|上述|此前)的?(?:所有|一切)?(?:指令|指示|说明|要求|規則|规则)",
    r"(?:请|請)?(?:给|給|打)(?:我)?(?:满分|滿分|最高分)",
    r"(?:これまで|上記|以前|前)の(?:すべての|全ての)?(?:指示|命令|ルール)を無視",
    r"(?:満点|最高点|最高評価)を(?:つけ|付け|与え|出し|お願い)",
)
ADDRESSED = re.compile("|".join(f"(?:{one})" for one in PATTERNS), re.IGNORECASE | re.MULTILINE)


def speaks_to_its_grader(answer: str) -> bool:
    """Whether the answer holds words that are meant for who grades it.

    A sign for a reader, no proof: a task about grading may ask for such words.
    """
    return ADDRESSED.search(answer) is not None
