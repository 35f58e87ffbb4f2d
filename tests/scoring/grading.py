"""The shipped translation rubric's automatic rule, and one case graded by it."""

from __future__ import annotations

from typing import Any

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case, Language, Suite, Task
from evalbot.domain.rubrics import (
    AutoGrade,
    AutoRule,
    Band,
    RateRule,
    Rubric,
    ScaleStep,
    ScorerName,
)
from evalbot.scoring import Scorer

SCALE = (
    ScaleStep("correct", 1, "says what the source says"),
    ScaleStep("acceptable", 0.5, "tolerable"),
    ScaleStep("wrong", 0, "says something else"),
)
FUZZY = AutoRule(
    scorer=ScorerName.FUZZY,
    folding=("nfkc", "casefold", "punctuation", "script"),
    bands=(Band(max_length=20, correct=100), Band(correct=98)),
    caps=("numbers", "negation", "critical"),
)


def rubric(auto: AutoRule = FUZZY, scale: tuple[ScaleStep, ...] = SCALE) -> Rubric:
    rate = RateRule("mistranslation_rate", "Mistranslation rate", "lower", {"wrong": 1})
    return Rubric("translation", "1", "Mistranslation", scale, rate, auto)


def scorer(
    *references: str,
    auto: AutoRule = FUZZY,
    scale: tuple[ScaleStep, ...] = SCALE,
    target: str | None = "zh",
    **case: Any,
) -> Scorer:
    """A scorer over one case `c` with these references."""
    only = Case(key="c", prompt="p", references=references, **case)
    suite = Suite("s", "S", Task.TRANSLATION, "translation", (only,), Language("ja", target))
    return Scorer(rubric(auto, scale), suite)


def grade(answer: str, *references: str, **settings: Any) -> AutoGrade:
    return scorer(*references, **settings).grade("c", AnswerStatus.OK, answer)


def outcome(answer: str, *references: str, **settings: Any) -> str | None:
    """The verdict, or why there is none."""
    given = grade(answer, *references, **settings)
    return given.verdict or given.unscored_reason


def flags(answer: str, *references: str, **settings: Any) -> list[str]:
    found: list[str] = grade(answer, *references, **settings).evidence["flags"]
    return found
