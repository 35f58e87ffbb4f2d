"""The lines of assignments.jsonl: who was given what, and what they said of known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evalbot.domain.reviewing import Assignment, KnownGrade, Layout, Purpose
from evalbot.reviewing.desk import label_of
from evalbot.store.columns import time_text
from evalbot.transfer.campaign_lines import CampaignRecord
from evalbot.transfer.lines import Line
from evalbot.transfer.people import People
from evalbot.transfer.reading import Whereabouts
from evalbot.transfer.refs import ref_values

OPEN, DONE, WITHDRAWN = "open", "done", "withdrawn"


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """An assignment with the answer it gives, by its place; said: of a known answer, in order.

    Its ids are made anew where it comes in: they tell nothing.
    """

    assignment: Assignment
    answer: Whereabouts | None
    said: tuple[KnownGrade, ...] = ()

    @property
    def place(self) -> tuple[str, str, int, int]:
        """Where it stands; no two stand at one place."""
        one = self.assignment
        return (one.campaign, one.reviewer, one.item, one.position)


def assignment_record(
    assignment: Assignment,
    said: Sequence[KnownGrade],
    places: Mapping[int, Whereabouts],
    people: People,
) -> AssignmentRecord:
    """An assignment as it may leave the house; places: its run's answers by row id."""
    row = assignment.answer_id
    known = replace(assignment, reviewer=people.name(assignment.reviewer))
    return AssignmentRecord(known, None if row is None else places[row], tuple(said))


def assignment_line(record: AssignmentRecord, campaign: CampaignRecord) -> Line:
    """An assignment as its JSON object; policy and seed are those of its draw."""
    one = record.assignment
    draw = campaign.draws[one.draw - 1].draw
    where = ref_values(one.case, record.answer)
    return {
        "campaign": one.campaign,
        "policy": str(draw.policy),
        "seed": draw.seed,
        "reviewer": one.reviewer,
        "case": where["case"],
        "model": where["model"],
        "repeat": where["repeat"],
        "position": one.position,
        "label": label_in(one.position, campaign),
        "inclusion_probability": one.inclusion_probability,
        "stratum": one.stratum,
        "attention": one.purpose is Purpose.ATTENTION,
        "volunteer": one.volunteer,
        "state": state_of(one.withdrawn_at, one.done_at),
        "pass": where["pass"],
        "attempt": where["attempt"],
        "purpose": str(one.purpose),
        "item": one.item,
        "draw": one.draw,
        "draw_probability": one.draw_probability,
        "planted": one.planted,
        "known": one.known,
        "case_text": one.case_text,
        "case_rule": one.case_rule,
        "made_at": time_text(one.made_at),
        "done_at": None if one.done_at is None else time_text(one.done_at),
        "withdrawn_at": None if one.withdrawn_at is None else time_text(one.withdrawn_at),
        "said": [
            {
                "verdict": grade.verdict,
                "unscored_reason": grade.unscored_reason,
                "comment": grade.comment,
                "checkpoints": grade.checkpoints,
                "at": time_text(grade.at),
            }
            for grade in record.said
        ],
    }


def label_in(position: int, campaign: CampaignRecord) -> str | None:
    """The letter the answer went by; None where answers were shown one at a time."""
    is_single = campaign.campaign.plan.layout is Layout.SINGLE
    return None if is_single else label_of(position)


def state_of(withdrawn_at: datetime | None, done_at: datetime | None) -> str:
    """How far an assignment has come."""
    if withdrawn_at is not None:
        return WITHDRAWN
    return OPEN if done_at is None else DONE
