"""Campaigns: what people are given to grade, how it was drawn, and what they said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

COMMAND_LINE = "command line"
"""Who made what was made without signing in: no person."""


class Policy(StrEnum):
    """How answers are drawn for review; each one's chance is known (statistics.md, f)."""

    ALL = "all"
    RANDOM = "random"
    STRATIFIED = "stratified"
    UNCERTAIN = "uncertain"


class Layout(StrEnum):
    """What a reviewer sees at once: all answers to a case, or one."""

    TOGETHER = "together"
    SINGLE = "single"


class Purpose(StrEnum):
    """Why an answer is shown: to be graded, to see who reads, or to learn the rubric by."""

    REVIEW = "review"
    ATTENTION = "attention"
    PRACTICE = "practice"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """What a lead asks for. budget: answers in all, None for every one; overlap: people on each.

    attention: share of items with a known verdict, in [0, 1). practice: so many items to learn
    by. reveal_judge: after a grade, the judge's is shown, and may be taken over.
    """

    reviewers: tuple[str, ...]
    policy: Policy = Policy.ALL
    budget: int | None = None
    overlap: int = 1
    attention: float = 0.0
    practice: int = 0
    seed: int = 1
    layout: Layout = Layout.TOGETHER
    reveal_judge: bool = False


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as recorded, with the texts that are graded by as long as it lasts."""

    id: str
    run: str
    plan: CampaignPlan
    suite_text: str
    rubric_text: str
    rubric_rule: str
    created_by: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of a campaign: the first, or an extension.

    chances: each unit's chance in this draw, also of those that were not drawn, and of those
    that an earlier draw had taken. A unit is an answer's row id or, drawn together, a case.
    """

    campaign: str
    number: int
    policy: Policy
    seed: int
    budget: int | None
    chances: Mapping[str, float]
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Assignment:
    """One answer given to one reviewer.

    item: its place in the reviewer's queue, shared by what is shown together; position: its
    place within that, from which its letter comes. answer_id is None for a planted text.
    known: the verdict that is known beforehand, for attention and practice.
    draw_probability: its chance in its own draw; inclusion_probability: in all draws so far;
    both None for what was not drawn. done_at: when it was last graded, None while it is open.
    """

    id: str
    campaign: str
    draw: int
    reviewer: str
    item: int
    position: int
    case: str
    case_text: str
    case_rule: str
    purpose: Purpose
    made_at: datetime
    answer_id: int | None = None
    planted: str | None = None
    known: str | None = None
    draw_probability: float | None = None
    inclusion_probability: float | None = None
    stratum: str | None = None
    volunteer: bool = False
    withdrawn_at: datetime | None = None
    done_at: datetime | None = None


class Draft(NamedTuple):
    """What a reviewer has typed and ticked, and not yet submitted."""

    comment: str
    ticked: tuple[str, ...]


class KnownGrade(NamedTuple):
    """What was said of an answer whose verdict was known; it never enters a rate."""

    assignment: str
    verdict: str | None
    unscored_reason: str | None
    comment: str | None
    checkpoints: Sequence[Mapping[str, Any]] | None
    at: datetime
    token: str


class Held(NamedTuple):
    """An answer that names a model or maker, and what a lead decided about it.

    names: what was found. decision: None while it is held back, `released` as it stands, or
    `masked`, when reviewers see `shown` instead of its text.
    """

    answer_id: int
    names: tuple[str, ...]
    decision: str | None = None
    shown: str | None = None
    by: str | None = None
    at: datetime | None = None
