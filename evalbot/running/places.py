"""Which places of a run are still to be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalbot.domain.answers import FAILED_ON_THE_WAY, AnswerStatus, Place
from evalbot.domain.cases import Case
from evalbot.domain.runs import Run
from evalbot.store.answers import Asked


@dataclass(frozen=True, slots=True)
class ToAsk:
    """A place to be asked, and which attempt this will be."""

    case: Case
    place: Place
    attempt: int


def places_to_ask(
    run: Run, endpoint: str, asked: Mapping[Place, Asked], *, retry_failed: bool
) -> Iterator[ToAsk]:
    """What was not asked and what was cancelled; with retry_failed what failed on the way too.

    All cases once before any a second time, so that a run cut short is still even.
    """
    for repeat in range(1, run.repeats + 1):
        for case in run.suite.cases:
            place = Place(case.key, endpoint, repeat)
            before = asked.get(place)
            if before is None:
                yield ToAsk(case, place, 1)
            elif before.status is AnswerStatus.CANCELLED or (
                retry_failed and before.status in FAILED_ON_THE_WAY
            ):
                yield ToAsk(case, place, before.attempt + 1)


def count_to_ask(
    run: Run, endpoint: str, asked: Mapping[Place, Asked], *, retry_failed: bool
) -> int:
    """How many places places_to_ask would give."""
    if not asked:
        return run.repeats * len(run.suite.cases)
    return sum(1 for _ in places_to_ask(run, endpoint, asked, retry_failed=retry_failed))
