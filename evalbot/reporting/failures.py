"""What failed in a run: by kind, in the servers' own words, with the first examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.domain.answers import FAILED_ON_THE_WAY, AnswerStatus, Place
from evalbot.domain.runs import Run
from evalbot.store import failures, runs
from evalbot.store.database import Database

MOST_WORDINGS = 8


@dataclass(frozen=True, slots=True)
class Wording:
    """Answers of one endpoint that failed in the same words; words: None where there are none."""

    endpoint: str
    words: str | None
    count: int
    examples: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class FailureKind:
    """All answers that ended in one way; the most frequent wordings."""

    status: AnswerStatus
    count: int
    wordings: tuple[Wording, ...]

    @property
    def is_on_the_way(self) -> bool:
        """Whether another try might bring an answer."""
        return self.status in FAILED_ON_THE_WAY


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A run with how its answers ended; failures: the most frequent kind first."""

    run: Run
    answers: int
    ok: int
    failures: tuple[FailureKind, ...]

    @property
    def retryable(self) -> int:
        """Answers that asking again might bring."""
        return sum(kind.count for kind in self.failures if kind.is_on_the_way)


def run_outcome(database: Database, run_id: str) -> RunOutcome:
    """How a run went; raises NotFoundError where there is none of this id."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        counts = failures.count_by_status(connection, run.id)
        first = failures.first_failures(connection, run.id)
    failed = sorted(
        (status for status in counts if status is not AnswerStatus.OK),
        key=lambda status: -counts[status],
    )
    return RunOutcome(
        run=run,
        answers=sum(counts.values()),
        ok=counts.get(AnswerStatus.OK, 0),
        failures=tuple(
            FailureKind(status, counts[status], _wordings(status, first)) for status in failed
        ),
    )


def _wordings(status: AnswerStatus, first: Sequence[failures.Failed]) -> tuple[Wording, ...]:
    together: dict[tuple[str, str | None], list[failures.Failed]] = {}
    for one in first:
        if one.status is status:
            together.setdefault((one.place.endpoint, one.words), []).append(one)
    return tuple(
        Wording(endpoint, words, alike[0].times, tuple(one.place for one in alike))
        for (endpoint, words), alike in list(together.items())[:MOST_WORDINGS]
    )
