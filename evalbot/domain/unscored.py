"""Why a grade has no verdict."""

from __future__ import annotations

from evalbot.domain.answers import AnswerStatus

UNSCORED_REASONS = (
    *(str(status) for status in AnswerStatus if status is not AnswerStatus.OK),
    "needs_review",
    "judge_unparseable",
    "judge_off_scale",
    "judge_truncated",
    "judge_refused",
    "judge_error",
    "tie",
    "cannot_judge",
    "not_graded",
)
"""contract.md: all that a grade without a verdict may give as its reason."""
