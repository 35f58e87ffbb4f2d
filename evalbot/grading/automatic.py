"""Automatic grades, ready to be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Suite, grading_text
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import NewGrade
from evalbot.fingerprint import fingerprint
from evalbot.scoring.scorer import Scorer

GRADER = "auto"


class AutoGrader:
    """Scores answers of one suite by one rubric.

    case_texts and rubric_text are what these grades rest on: they are stored beside them.
    """

    def __init__(self, suite: Suite, rubric: Rubric) -> None:
        self._scorer = Scorer(rubric, suite)
        self._rubric = rubric
        self.rubric_text: Mapping[str, Any] = rubric.text_for(Layer.AUTO)
        self.case_texts: list[dict[str, Any]] = [grading_text(suite, c) for c in suite.cases]
        self.rubric_fingerprint = fingerprint(self.rubric_text)
        self._cases = {
            case.key: fingerprint(text)
            for case, text in zip(suite.cases, self.case_texts, strict=True)
        }

    def grade(
        self, case: str, status: AnswerStatus, text: str, at: datetime | None = None
    ) -> NewGrade:
        """The grade of one answer; one that is not ok is unscored with its status as reason.

        at: when it is given, now where left out.
        """
        result = self._scorer.grade(case, status, text)
        return NewGrade(
            layer=str(Layer.AUTO),
            grader=GRADER,
            verdict=result.verdict,
            unscored_reason=result.unscored_reason,
            rubric=self._rubric.name,
            rubric_version=self._rubric.version,
            rubric_fingerprint=self.rubric_fingerprint,
            case_fingerprint=self._cases[case],
            at=at or datetime.now(UTC),
            evidence=result.evidence or None,
        )
