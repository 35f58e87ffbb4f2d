"""The tables of reviewing: campaigns, what was drawn for whom, and what is kept meanwhile.

Human grades stand among all other grades. What is said of answers whose verdict is known is
kept apart from them, so that it can never enter a rate.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    Index,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
)

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class CampaignColumns(TypedColumns):
    """A campaign; plan: as the lead asked for it. The texts hold as long as it lasts."""

    id: Named[str] = Column(String(16), primary_key=True)
    run: Named[str] = Column(Text, ForeignKey("runs.id"))
    plan: Named[Any] = Column(JSON)
    suite_text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    rubric_text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    rubric_rule: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    created_by: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(UtcTime)
    closed_at: Named[datetime | None] = Column(UtcTime)


campaign_table = Table(
    "campaigns",
    metadata,
    CampaignColumns,
)


class DrawColumns(TypedColumns):
    """One draw of a campaign; chances: by unit, drawn or not."""

    campaign: Named[str] = Column(String(16), ForeignKey("campaigns.id"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    policy: Named[str] = Column(String(12))
    seed: Named[int]
    budget: Named[int | None]
    chances: Named[Any] = Column(JSON)
    by: Named[str] = Column(Text)
    at: Named[datetime] = Column(UtcTime)


draw_table = Table(
    "draws",
    metadata,
    DrawColumns,
)


class AssignmentColumns(TypedColumns):
    """One answer given to one reviewer. Only the last three columns ever change.

    Practice items have numbers below 0, so that they come first and are never counted.
    """

    id: Named[str] = Column(String(24), primary_key=True)
    campaign: Named[str] = Column(String(16), ForeignKey("campaigns.id"))
    draw: Named[int]
    reviewer: Named[str] = Column(Text)
    item: Named[int]
    position: Named[int]
    case_key: Named[str] = Column(Text)
    case_text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    case_rule: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    purpose: Named[str] = Column(String(12))
    answer_id: Named[int | None] = Column(ROW_ID, ForeignKey("answers.id"))
    planted: Named[str | None] = Column(Text)
    known: Named[str | None] = Column(Text)
    draw_probability: Named[float | None]
    stratum: Named[str | None] = Column(Text)
    volunteer: Named[bool]
    made_at: Named[datetime] = Column(UtcTime)
    inclusion_probability: Named[float | None]
    withdrawn_at: Named[datetime | None] = Column(UtcTime)
    done_at: Named[datetime | None] = Column(UtcTime)


assignment_table = Table(
    "assignments",
    metadata,
    AssignmentColumns,
    UniqueConstraint("campaign", "reviewer", "item", "position"),
    Index("ix_assignments_answer", "answer_id"),
    Index("ix_assignments_queue", "campaign", "reviewer", "withdrawn_at", "done_at", "item"),
)


class DraftColumns(TypedColumns):
    """What is typed and ticked, and not yet said."""

    assignment: Named[str] = Column(String(24), ForeignKey("assignments.id"), primary_key=True)
    comment: Named[str] = Column(Text)
    ticked: Named[Any] = Column(JSON)
    at: Named[datetime] = Column(UtcTime)


draft_table = Table(
    "drafts",
    metadata,
    DraftColumns,
)


class PlaceColumns(TypedColumns):
    """Where a reviewer is in a campaign."""

    campaign: Named[str] = Column(String(16), ForeignKey("campaigns.id"), primary_key=True)
    reviewer: Named[str] = Column(Text, primary_key=True)
    item: Named[int]
    at: Named[datetime] = Column(UtcTime)


place_table = Table(
    "review_places",
    metadata,
    PlaceColumns,
)


class KnownGradeColumns(TypedColumns):
    """What was said of an answer whose verdict was known; only ever added."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    assignment: Named[str] = Column(String(24), ForeignKey("assignments.id"))
    verdict: Named[str | None] = Column(Text)
    unscored_reason: Named[str | None] = Column(String(32))
    comment: Named[str | None] = Column(Text)
    checkpoints: Named[Any | None] = Column(JSON(none_as_null=True))
    token: Named[str] = Column(String(64), unique=True)
    at: Named[datetime] = Column(UtcTime)


known_grade_table = Table(
    "known_grades",
    metadata,
    KnownGradeColumns,
    Index("ix_known_grades_assignment", "assignment"),
)


class HeldColumns(TypedColumns):
    """An answer that names a model or maker: held back until a lead decides."""

    answer_id: Named[int] = Column(ROW_ID, ForeignKey("answers.id"), primary_key=True)
    names: Named[Any] = Column(JSON)
    decision: Named[str | None] = Column(String(12))
    shown: Named[str | None] = Column(Text)
    by: Named[str | None] = Column(Text)
    at: Named[datetime | None] = Column(UtcTime)


held_table = Table(
    "held_answers",
    metadata,
    HeldColumns,
)
