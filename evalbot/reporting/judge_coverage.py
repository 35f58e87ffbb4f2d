"""Who judged a run, and how much of it: what a judge rate must say of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evalbot.domain.answers import AnswerStatus
from evalbot.formats.words import count
from evalbot.grading.effective import PANEL
from evalbot.store.answers import AnswerGlance
from evalbot.store.database import Connection
from evalbot.store.judging import JudgeUsed, decided_without_judge, judges_used

ALL, NEEDS_REVIEW, PART = "all", "needs_review", "part"


@dataclass(frozen=True, slots=True)
class JudgeCoverage:
    """judges: with what they were set to; extent: all, needs_review or part of the ok answers.

    missing: ok answers without a judge's grade.
    """

    run: str
    judges: tuple[JudgeUsed, ...]
    extent: str
    missing: int

    @property
    def signature(self) -> str:
        """Its part of a rate's signature."""
        judges = [
            f"{one.name}/{(one.judge or 'unknown')[:8]}{f'x{one.votes}' if one.votes else ''}"
            for one in self.judges
            if one.name != PANEL
        ]
        return f"judges:{'+'.join(judges) or 'none'}|judged:{self.extent}"

    @property
    def note(self) -> str | None:
        """What a reader must know; None where every answer was judged."""
        if self.extent == NEEDS_REVIEW:
            return (
                f"judged: needs_review only: {count(self.missing, 'answer')} that automatic "
                "scoring decided have no judge's grade; this is no rate to publish as the judge's"
            )
        if self.extent == PART:
            return (
                f"judging is not finished: {count(self.missing, 'answer')} without a judge's "
                f"grade (evalbot judge {self.run})"
            )
        return None


def judge_coverage(
    connection: Connection, run: str, answers: Iterable[AnswerGlance], graded: Collection[int]
) -> JudgeCoverage:
    """graded: answers that some judge has graded."""
    ok = {answer.id for answer in answers if answer.status == AnswerStatus.OK}
    missing = ok - set(graded)
    extent = ALL
    if missing:
        decided = decided_without_judge(connection, run)
        open_only = missing <= decided and bool(graded) and not decided & set(graded)
        extent = NEEDS_REVIEW if open_only else PART
    return JudgeCoverage(run, tuple(judges_used(connection, run)), extent, len(missing))
