"""Who judged a run, and how much of it: what a judge rate must say of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from evalbot.domain.answers import AnswerStatus
from evalbot.formats.words import count
from evalbot.grading.effective import PANEL, VOTE_MARK
from evalbot.store.answers import AnswerGlance
from evalbot.store.database import Connection
from evalbot.store.judging import JudgeUsed, decided_without_judge, judges_used

ALL, NEEDS_REVIEW, PART = "all", "needs_review", "part"
TRUNCATED = "+truncated"


@dataclass(frozen=True, slots=True)
class JudgeCoverage:
    """What the rate of a judge, or of all of them, rests on.

    judges: with what they were set to. extent: all, needs_review or part of the ok answers.
    missing: ok answers without a grade; uneven: judges that have not graded all that others
    have. with_truncated: answers that were cut off were graded too. silent: judges that have
    brought no verdict at all.
    """

    run: str
    judges: tuple[JudgeUsed, ...]
    extent: str
    missing: int
    uneven: tuple[str, ...]
    with_truncated: bool
    silent: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """Its part of a rate's signature."""
        judges = [
            f"{one.name}/{(one.judge or 'unknown')[:8]}{f'x{one.votes}' if one.votes else ''}"
            for one in self.judges
        ]
        judged = self.extent + (TRUNCATED if self.with_truncated else "")
        return f"judges:{'+'.join(judges) or 'none'}|judged:{judged}"

    @property
    def notes(self) -> list[str]:
        """What a reader must know; nothing where every answer was judged by all."""
        silent = f"no verdict came from {', '.join(self.silent)}; the rate is the others'"
        return [*filter(None, [self._extent_note(), silent if self.silent else None])]

    def _extent_note(self) -> str | None:
        if self.extent == NEEDS_REVIEW:
            return (
                f"judged: needs_review only: {count(self.missing, 'answer')} that automatic "
                "scoring decided have no judge's grade; this is no rate to publish as the judge's"
            )
        if self.uneven:
            return (
                f"judging is not finished: {', '.join(self.uneven)} graded only some of the "
                f"answers, so that not all have the same judges (evalbot judge {self.run})"
            )
        if self.extent == PART:
            return (
                f"judging is not finished: {count(self.missing, 'answer')} without a judge's "
                f"grade (evalbot judge {self.run})"
            )
        return None


def judge_coverage(
    connection: Connection,
    run: str,
    answers: Iterable[AnswerGlance],
    judged: Mapping[str, Collection[int]],
    verdicts: Mapping[str, int],
    judge: str | None = None,
) -> JudgeCoverage:
    """judged: by judge, the answers it has graded, and verdicts: how many of these have one.

    judge: the one whose rate it is.
    """
    wanted = None if judge in (None, PANEL) else str(judge).partition(VOTE_MARK)[0]
    of_judges = {
        name: set(graded)
        for name, graded in judged.items()
        if name != PANEL and wanted in (None, name)
    }
    by_status: dict[str, set[int]] = {}
    for answer in answers:
        by_status.setdefault(answer.status, set()).add(answer.id)
    ok = by_status.get(AnswerStatus.OK, set())
    graded = set().union(*of_judges.values())
    missing = ok - graded
    uneven = tuple(sorted(name for name, own in of_judges.items() if (graded & ok) - own))
    extent = ALL
    if missing or uneven:
        decided = decided_without_judge(connection, run)
        open_only = missing <= decided and bool(graded) and not decided & graded
        extent = NEEDS_REVIEW if missing and open_only and not uneven else PART
    return JudgeCoverage(
        run=run,
        judges=tuple(one for one in judges_used(connection, run) if one.name in of_judges),
        extent=extent,
        missing=len(missing),
        uneven=uneven,
        silent=tuple(sorted(name for name in of_judges if not verdicts.get(name))),
        with_truncated=bool(graded & by_status.get(AnswerStatus.TRUNCATED, set())),
    )
