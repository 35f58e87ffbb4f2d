"""Which answers of a run people were given by a draw, and with what chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalbot.domain.reviewing import Campaign, Layout, Policy, Purpose
from evalbot.stats.sampling import joined_probability
from evalbot.store.assignments import read_assignments
from evalbot.store.audited import AuditRow
from evalbot.store.campaigns import draws_of, list_campaigns
from evalbot.store.database import Connection


@dataclass(frozen=True, slots=True)
class Sample:
    """The draws of a run's campaigns, joined. policies: as drawn, each once.

    chances: by answer, its chance of having been drawn by any of them, drawn or not; drawn: the
    answers that were, and the stratum each was drawn in; graded: those of them that somebody who
    was given them has graded. campaigns: how many; each may have drawn more than once.
    """

    policies: tuple[Policy, ...]
    chances: Mapping[int, float]
    drawn: Mapping[int, str | None]
    graded: frozenset[int]
    campaigns: int


def sample_of(connection: Connection, run: str, rows: Mapping[int, AuditRow]) -> Sample:
    """The draws of a run; rows: its counting answers by id. Volunteers' reviews are left out."""
    chances: dict[int, float] = {}
    drawn: dict[int, str | None] = {}
    graded: set[int] = set()
    policies: list[Policy] = []
    count = 0
    for campaign in list_campaigns(connection, run):
        count += 1
        for draw in draws_of(connection, campaign.id):
            policies.append(draw.policy)
            for answer, row in rows.items():
                chance = draw.chances.get(_unit(campaign, answer, row), 0.0)
                chances[answer] = joined_probability(chances.get(answer, 0.0), chance)
        for one in read_assignments(connection, campaign.id):
            if one.purpose is not Purpose.REVIEW or one.volunteer or one.answer_id is None:
                continue
            if one.draw_probability is not None and one.answer_id in rows:
                drawn[one.answer_id] = one.stratum
                if one.done_at is not None:
                    graded.add(one.answer_id)
    found = tuple(dict.fromkeys(policies))
    return Sample(found, chances, drawn, frozenset(graded), count)


def _unit(campaign: Campaign, answer: int, row: AuditRow) -> str:
    return row.case if campaign.plan.layout is Layout.TOGETHER else str(answer)
