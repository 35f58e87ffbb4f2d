"""One draw of a campaign, from what is free to what each reviewer is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evalbot.domain.cases import Suite, grading_text
from evalbot.domain.json_form import case_to_json
from evalbot.domain.reviewing import Assignment, Campaign, CampaignPlan, Draw, Purpose
from evalbot.domain.runs import Run
from evalbot.grading.basis import Basis
from evalbot.reviewing.dealing import CaseTexts, Dealer
from evalbot.reviewing.drawing import draw_units
from evalbot.reviewing.holding import hold_back
from evalbot.reviewing.known import known_answers
from evalbot.reviewing.material import Material
from evalbot.stats.sampling import joined_probability
from evalbot.store import assignments, campaigns, places
from evalbot.store.database import Connection
from evalbot.store.texts import put_texts

UnitOf = Mapping[int | None, str]
"""By answer, the unit it is drawn with."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a draw came to. attention: how many answers with a known verdict are among them."""

    campaign: Campaign
    answers: int
    items: Mapping[str, int]
    held: int
    attention: int
    practice: int


def draw_and_deal(
    connection: Connection,
    campaign: Campaign,
    plan: CampaignPlan,
    run: Run,
    basis: Basis,
    material: Material,
    by: str,
    at: datetime,
) -> Made:
    """Draw by this plan what no earlier draw took, deal it, and write both.

    plan: of this draw, which in an extension is not the campaign's. InputError where nothing
    can be drawn.
    """
    before = list(assignments.read_assignments(connection, campaign.id))
    unit_of: dict[int | None, str] = {
        answer.id: key for key, unit in material.units.items() for answer in unit.answers
    }
    was_drawn = [one for one in before if one.draw_probability is not None]
    taken = {unit_of[one.answer_id] for one in was_drawn if one.answer_id in unit_of}
    drawn, chances = draw_units(material, plan.policy, plan.budget, plan.seed, frozenset(taken))
    number = campaigns.next_draw_number(connection, campaign.id)
    draw = Draw(campaign.id, number, plan.policy, plan.seed, plan.budget, chances, by, at)
    campaigns.add_draw(connection, draw)
    texts = put_case_texts(connection, basis.suite)
    first_items: dict[str, int] = {}
    for one in before:
        first_items[one.reviewer] = max(first_items.get(one.reviewer, 0), one.item + 1)
    known = known_answers(material, basis.suite, basis.rubric)
    dealer = Dealer(campaign.id, number, plan, texts, at, plan.seed)
    made = dealer.deal(material, drawn, known, first_items)
    made = _in_place_of_volunteered(connection, before, made, at)
    if before:
        drawn_ever = [*was_drawn, *(one for one in made if one.draw_probability is not None)]
        _join_chances(connection, campaign, drawn_ever, unit_of)
    held = hold_back(connection, run, basis.suite, made)
    return Made(
        campaign=campaign,
        answers=sum(len(material.units[one.unit].answers) for one in drawn),
        items={
            name: len({one.item for one in made if one.reviewer == name and one.item >= 0})
            for name in plan.reviewers
        },
        held=held,
        attention=sum(one.purpose == "attention" for one in made),
        practice=sum(one.purpose == "practice" for one in made),
    )


def _in_place_of_volunteered(
    connection: Connection, before: Sequence[Assignment], made: Sequence[Assignment], at: datetime
) -> list[Assignment]:
    """Write what is made; an answer that its reviewer has as a volunteer is not asked for twice.

    The drawn assignment takes the place of the other, with what was graded or typed already.
    """
    volunteered = {
        (one.reviewer, one.answer_id): one
        for one in before
        if one.volunteer and one.withdrawn_at is None
    }
    replaced = [
        (old, one)
        for one in made
        if one.purpose is Purpose.REVIEW
        and (old := volunteered.get((one.reviewer, one.answer_id))) is not None
    ]
    done = {one.id: old.done_at for old, one in replaced}
    written = [replace(one, done_at=done.get(one.id)) for one in made]
    assignments.add_assignments(connection, written)
    assignments.withdraw(connection, [old.id for old, _ in replaced], at)
    for old, one in replaced:
        places.move_draft(connection, old.id, one.id)
    return written


def _join_chances(
    connection: Connection, campaign: Campaign, drawn: Sequence[Assignment], unit_of: UnitOf
) -> None:
    """After an extension, every unit's chance is that of being taken by any of the draws."""
    draws = campaigns.draws_of(connection, campaign.id)
    joined: dict[str, float] = {}
    for one in drawn:
        if one.answer_id in unit_of:
            chance = 0.0
            for draw in draws:
                chance = joined_probability(chance, draw.chances.get(unit_of[one.answer_id], 0.0))
            joined[one.id] = chance
    assignments.set_inclusion(connection, joined)


def put_case_texts(connection: Connection, suite: Suite) -> dict[str, CaseTexts]:
    """Store what the cases are and are graded by; by case, where that stands."""
    texts = put_texts(connection, "case", [case_to_json(case) for case in suite.cases])
    rules = put_texts(connection, "case_rule", [grading_text(suite, case) for case in suite.cases])
    return {
        case.key: CaseTexts(text, rule)
        for case, text, rule in zip(suite.cases, texts, rules, strict=True)
    }
