"""Answers that tell whose they are: held back from reviewers until a lead decides."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from evalbot.domain.cases import Suite
from evalbot.domain.reviewing import Assignment, Held
from evalbot.domain.runs import Run
from evalbot.errors import InputError, NotFoundError
from evalbot.scoring.self_naming import SelfNaming, cover, names_of_endpoints
from evalbot.store import assignments
from evalbot.store.answers import texts_of
from evalbot.store.database import Connection, Database

RELEASED, MASKED = "released", "masked"


def hold_back(connection: Connection, run: Run, suite: Suite, given: Iterable[Assignment]) -> int:
    """Look through the answers that are given to reviewers; how many of them name a model."""
    finder = SelfNaming(
        names_of_endpoints(
            name
            for endpoint in run.endpoints
            for name in (
                endpoint.name,
                endpoint.model_id,
                endpoint.family,
                endpoint.settings.get("model"),
            )
        )
    )
    questions = {
        case.key: "\n".join(
            [turn.content for turn in suite.conversation(case)]
            + [*case.references, *case.acceptable]
        )
        for case in suite.cases
    }
    answers = sorted({one.answer_id for one in given if one.answer_id is not None})
    found = [
        Held(answer_id, names)
        for answer_id, case, text in texts_of(connection, answers)
        if (names := finder.find(text, questions[case]))
    ]
    assignments.put_held(connection, found)
    return len(found)


def mask_all(database: Database, campaign: str, by: str) -> int:
    """Mask the names in all answers of a campaign that wait; how many these were."""
    at = datetime.now(UTC)
    with database.write() as connection:
        waiting = assignments.waiting_in(connection, campaign)
        texts = {
            answer_id: text
            for answer_id, _, text in texts_of(connection, [one.answer_id for one in waiting])
        }
        for held in waiting:
            shown = cover(texts[held.answer_id], held.names)
            assignments.decide_held(
                connection, held._replace(decision=MASKED, shown=shown, by=by, at=at)
            )
    return len(waiting)


def decide(database: Database, answer_id: int, decision: str, by: str, before: str | None) -> None:
    """Release a held answer as it stands, or mask the names in it.

    before: the decision that the lead saw. InputError where another lead decided meanwhile.
    """
    if decision not in (RELEASED, MASKED):
        raise InputError(f"found {decision!r}; expected {RELEASED} or {MASKED}")
    with database.write() as connection:
        held = assignments.get_held(connection, answer_id, lock=True)
        if held is None:
            raise NotFoundError("this answer is not held back")
        if held.decision != before:
            raise InputError(
                f"{held.by or 'another lead'} has decided this one meanwhile ({held.decision}); "
                "look at it again"
            )
        shown = None
        if decision == MASKED:
            [(_, _, text)] = texts_of(connection, [answer_id])
            shown = cover(text, held.names)
        assignments.decide_held(
            connection, held._replace(decision=decision, shown=shown, by=by, at=datetime.now(UTC))
        )
