"""Which places of a run are still to be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalbot.domain.answers import FAILED_ON_THE_WAY, AnswerStatus, Place
from evalbot.domain.cases import Case
from evalbot.domain.runs import Run
from evalbot.running.self_check import SELF_CHECK
from evalbot.store.answers import Asked


@dataclass(frozen=True, slots=True)
class ToAsk:
    """A place to be asked, and which attempt this will be.

    check_attempt: which one its self-check will be, asked right after it; None: there is none.
    A place of pass 2 stands alone where the answer to be checked is on record.
    """

    case: Case
    place: Place
    attempt: int
    check_attempt: int | None = None

    @property
    def check(self) -> ToAsk:
        """The self-check of this answer."""
        place = self.place._replace(pass_=2)
        return ToAsk(self.case, place, self.check_attempt or 1)


def places_to_ask(
    run: Run, endpoint: str, asked: Mapping[Place, Asked], *, retry_failed: bool
) -> Iterator[ToAsk]:
    """What was not asked and what was cancelled; with retry_failed what failed on the way too.

    All cases once before any a second time, so that a run cut short is still even.
    """
    checked = SELF_CHECK in run.settings
    for repeat in range(1, run.repeats + 1):
        for case in run.suite.cases:
            place = Place(case.key, endpoint, repeat)
            second = place._replace(pass_=2)
            before, check = asked.get(place), asked.get(second)
            if _is_open(before, retry_failed):
                yield ToAsk(case, place, _next(before), _next(check) if checked else None)
            elif (
                checked
                and before is not None
                and before.status is AnswerStatus.OK
                and _is_open(check, retry_failed)
            ):
                yield ToAsk(case, second, _next(check))


def count_to_ask(
    run: Run, endpoint: str, asked: Mapping[Place, Asked], *, retry_failed: bool
) -> int:
    """How many calls places_to_ask leads to, if all answers that are to be checked are ok."""
    if not asked:
        return run.repeats * len(run.suite.cases) * (2 if SELF_CHECK in run.settings else 1)
    places = places_to_ask(run, endpoint, asked, retry_failed=retry_failed)
    return sum(1 if one.check_attempt is None else 2 for one in places)


def _is_open(asked: Asked | None, retry_failed: bool) -> bool:
    if asked is None or asked.status is AnswerStatus.CANCELLED:
        return True
    return retry_failed and asked.status in FAILED_ON_THE_WAY


def _next(asked: Asked | None) -> int:
    return 1 if asked is None else asked.attempt + 1
