"""Campaigns as a lead follows them: who has come how far, who reads, what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalbot.domain.json_form import suite_from_json
from evalbot.domain.reviewing import Campaign, Draw
from evalbot.domain.rubrics import Layer
from evalbot.errors import NotFoundError, ProblemsError
from evalbot.formats.catalogue import find_rubric
from evalbot.formats.rubrics import read_rubric
from evalbot.store import assignments, campaigns
from evalbot.store.assignments import Checked, HeldAnswer, HeldCounts
from evalbot.store.database import Connection, Database
from evalbot.store.texts import get_texts

MOST_HELD_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ReviewerLine:
    """One reviewer. attention_right of attention_seen: checks graded as they are known."""

    reviewer: str
    total: int
    done: int
    last_at: datetime | None
    attention_right: int
    attention_seen: int


@dataclass(frozen=True, slots=True)
class CampaignOverview:
    """One campaign; held: some of the answers that name a model, undecided first.

    is_outdated: its rubric is not today's any more, so that its grades are stale.
    """

    campaign: Campaign
    title: str
    draws: tuple[Draw, ...]
    reviewers: tuple[ReviewerLine, ...]
    held: tuple[HeldAnswer, ...]
    held_counts: HeldCounts
    is_outdated: bool = False


def campaign_overviews(database: Database, folder: Path | None = None) -> list[CampaignOverview]:
    """All campaigns, open ones first, newest first.

    folder: where rubrics are looked up, to tell which campaigns are outdated.
    """
    with database.read() as connection:
        found = [_overview(connection, one, folder) for one in campaigns.list_campaigns(connection)]
    return sorted(found, key=lambda one: one.campaign.closed_at is not None)


def _overview(connection: Connection, campaign: Campaign, folder: Path | None) -> CampaignOverview:
    suite = suite_from_json(get_texts(connection, [campaign.suite_text])[campaign.suite_text], ())
    seen, right = _attention(assignments.attention_results(connection, campaign.id))
    return CampaignOverview(
        campaign=campaign,
        title=suite.title,
        draws=tuple(campaigns.draws_of(connection, campaign.id)),
        reviewers=tuple(
            ReviewerLine(
                reviewer=one.reviewer,
                total=one.total,
                done=one.done,
                last_at=one.last_at,
                attention_right=right[one.reviewer],
                attention_seen=seen[one.reviewer],
            )
            for one in assignments.progress_of(connection, campaign.id)
        ),
        held=tuple(assignments.held_in(connection, campaign.id, MOST_HELD_SHOWN)),
        held_counts=assignments.count_held(connection, campaign.id),
        is_outdated=folder is not None and _is_outdated(suite.rubric, campaign, folder),
    )


def _is_outdated(rubric: str, campaign: Campaign, folder: Path) -> bool:
    try:
        today = read_rubric(find_rubric(rubric, folder))
    except (NotFoundError, ProblemsError):
        return False
    return today.fingerprint_for(Layer.HUMAN) != campaign.rubric_rule


def _attention(checked: Sequence[Checked]) -> tuple[Counter[str], Counter[str]]:
    """By reviewer, the checks they graded, and those they graded as they are known."""
    graded = [one for one in checked if one.unscored_reason != "not_graded"]
    seen = Counter(one.reviewer for one in graded)
    right = Counter(one.reviewer for one in graded if one.verdict == one.known)
    return seen, right
