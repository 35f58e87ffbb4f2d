"""Campaigns: drawn, extended, handed to somebody else, closed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from evalbot.domain.cases import Suite, grading_text
from evalbot.domain.json_form import case_to_json, rubric_to_json, suite_to_json
from evalbot.domain.people import User
from evalbot.domain.reviewing import (
    Assignment,
    Campaign,
    CampaignPlan,
    Draw,
    Policy,
    Purpose,
)
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.errors import InputError
from evalbot.formats.problems import nearest
from evalbot.grading.basis import Basis, basis_of
from evalbot.reviewing.dealing import CaseTexts, Dealer, new_id
from evalbot.reviewing.drawing import draw_units
from evalbot.reviewing.holding import hold_back
from evalbot.reviewing.known import known_answers
from evalbot.reviewing.material import Material, gather
from evalbot.stats.sampling import joined_probability
from evalbot.store import assignments, campaigns, people, places, queue, runs
from evalbot.store.database import Connection, Database
from evalbot.store.texts import put_texts

LARGEST = 2**31 - 1
"""What both databases can hold as a whole number."""

VOLUNTEERED = 10
"""Units that a reviewer who asks for more is given at a time."""


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


def make_campaign(
    database: Database, run_id: str, plan: CampaignPlan, by: str, folder: Path
) -> Made:
    """Draw a campaign from a run; InputError where it cannot be drawn as asked.

    Its texts and rubric are today's, and stay those of the campaign as long as it lasts.
    """
    check_plan(plan)
    at = datetime.now(UTC)
    with database.write() as connection:
        _check_reviewers(connection, plan.reviewers)
        run = runs.get_run(connection, run_id)
        basis = basis_of(run, folder)
        material = gather(connection, run, basis, plan.layout)
        if not material.units:
            raise InputError(f"run {run.id} has no answer that people could grade")
        known = known_answers(material, basis.suite, basis.rubric)
        if (plan.attention or plan.practice) and not known:
            raise InputError(
                "attention checks and practice need answers with a known verdict, and this suite "
                "has no references, traps or decided answers; leave them out"
            )
        campaign = _campaign(connection, run, basis, plan, by, at)
        campaigns.add_campaign(connection, campaign)
        return _draw(connection, campaign, plan, run, basis, material, by, at)


def extend_campaign(
    database: Database,
    campaign_id: str,
    by: str,
    folder: Path,
    *,
    policy: Policy,
    budget: int | None,
    seed: int,
) -> Made:
    """Draw more for a campaign; what was drawn before stays, and its chances are joined.

    Reviewers who cannot sign in any more are given nothing. Raises InputError where the rubric
    changed since, too few reviewers are left, or nothing is left to draw.
    """
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        _refuse_closed(campaign)
        run = runs.get_run(connection, campaign.run)
        basis = basis_of(run, folder)
        if _texts_of(connection, basis)[1:] != (campaign.rubric_text, campaign.rubric_rule):
            raise InputError(
                "the rubric changed since this campaign was drawn; draw a new campaign, so that "
                "all its answers are graded by one rule"
            )
        material = gather(connection, run, basis, campaign.plan.layout)
        plan = replace(
            campaign.plan,
            policy=policy,
            budget=budget,
            seed=seed,
            practice=0,
            reviewers=_still_here(connection, campaign.plan),
        )
        check_plan(plan)
        return _draw(connection, campaign, plan, run, basis, material, by, at)


def volunteer(database: Database, campaign_id: str, user: User, folder: Path) -> int:
    """More answers for a reviewer who is done and asks for them; how many there are.

    None while there is something open, so that asking twice at once gives no more than once.
    They have no chance of being drawn, so corrected rates leave them out.
    """
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        _refuse_closed(campaign)
        mine = list(assignments.read_assignments(connection, campaign.id, user.name))
        if not mine:
            raise InputError("this review is not yours")
        if queue.next_item(connection, campaign.id, user.name, None) is not None:
            return 0
        run = runs.get_run(connection, campaign.run)
        basis = basis_of(run, folder)
        material = gather(connection, run, basis, campaign.plan.layout)
        taken = {one.answer_id for one in mine}
        free = [
            unit
            for unit in material.units.values()
            if not taken & {answer.id for answer in unit.answers}
        ]
        if not free:
            raise InputError("you have had all there is to grade in this review")
        first = max(one.item for one in mine) + 1
        chosen = Random().sample(free, min(VOLUNTEERED, len(free)))
        dealer = Dealer(
            campaign.id, mine[0].draw, campaign.plan, _case_texts(connection, basis.suite), at,
            campaign.plan.seed,
        )  # fmt: skip
        made = dealer.volunteered(chosen, user.name, first)
        assignments.add_assignments(connection, made)
        hold_back(connection, run, basis.suite, made)
        return len(made)


def reassign(database: Database, campaign_id: str, reviewer: str, to: str) -> int:
    """Hand what a reviewer has not graded yet to another; how many answers that were.

    What the other one has already is taken back all the same, and not given twice.
    """
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        _refuse_closed(campaign)
        _check_reviewers(connection, [to])
        if to == reviewer:
            raise InputError("choose another reviewer to hand the answers to")
        theirs = [
            one
            for one in assignments.read_assignments(connection, campaign.id, reviewer, lock=True)
            if one.done_at is None and one.withdrawn_at is None
        ]
        others = list(assignments.read_assignments(connection, campaign.id, to))
        there = {one.answer_id for one in others if one.withdrawn_at is None} - {None}
        moved = [one for one in theirs if one.answer_id not in there and one.item >= 0]
        offset = max((one.item for one in others), default=-1) + 1
        numbers = {item: offset + n for n, item in enumerate(sorted({o.item for o in moved}))}
        assignments.withdraw(connection, [one.id for one in theirs], at)
        assignments.add_assignments(
            connection,
            [
                replace(one, id=new_id(), reviewer=to, item=numbers[one.item], made_at=at)
                for one in moved
            ],
        )
        return len(moved)


def close(database: Database, campaign_id: str) -> None:
    """End a campaign: nothing more is graded in it; what was said stays."""
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        if campaign.closed_at is None:
            campaigns.close_campaign(connection, campaign.id, datetime.now(UTC))


def reopen(database: Database, campaign_id: str) -> None:
    """Let a closed campaign go on."""
    with database.write() as connection:
        campaigns.close_campaign(
            connection, campaigns.get_campaign(connection, campaign_id, lock=True).id, None
        )


def check_plan(plan: CampaignPlan) -> None:
    """Raises InputError for what cannot be meant."""
    if not plan.reviewers:
        raise InputError("--reviewers: name at least one person")
    if len(set(plan.reviewers)) < len(plan.reviewers):
        raise InputError("--reviewers: a name stands there twice")
    if not 1 <= plan.overlap <= len(plan.reviewers):
        raise InputError(
            f"--overlap {plan.overlap}: expected 1 to {len(plan.reviewers)}, the number of "
            "reviewers"
        )
    if not 0 <= plan.attention < 0.5:
        raise InputError(f"--attention {plan.attention:g}: expected a share from 0 to under 0.5")
    _check_size(plan)
    if plan.practice < 0:
        raise InputError(f"--practice {plan.practice}: expected 0 or more")
    if plan.policy is not Policy.ALL and plan.budget is None:
        raise InputError(f"--policy {plan.policy} needs --budget, the number of answers to draw")
    if plan.policy is Policy.ALL and plan.budget is not None:
        raise InputError("--budget goes with --policy random, stratified or uncertain")


def _check_size(plan: CampaignPlan) -> None:
    if plan.budget is not None and not 1 <= plan.budget <= LARGEST:
        raise InputError(f"--budget {plan.budget}: expected at least 1, at most {LARGEST}")
    if abs(plan.seed) > LARGEST:
        raise InputError(f"--seed {plan.seed}: expected -{LARGEST} to {LARGEST}")


def _draw(
    connection: Connection,
    campaign: Campaign,
    plan: CampaignPlan,
    run: Run,
    basis: Basis,
    material: Material,
    by: str,
    at: datetime,
) -> Made:
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
    texts = _case_texts(connection, basis.suite)
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


def _campaign(
    connection: Connection, run: Run, basis: Basis, plan: CampaignPlan, by: str, at: datetime
) -> Campaign:
    suite_text, rubric_text, rubric_rule = _texts_of(connection, basis)
    return Campaign(
        id=secrets.token_hex(4),
        run=run.id,
        plan=plan,
        suite_text=suite_text,
        rubric_text=rubric_text,
        rubric_rule=rubric_rule,
        created_by=by,
        created_at=at,
    )


def _texts_of(connection: Connection, basis: Basis) -> tuple[str, str, str]:
    [suite_text] = put_texts(connection, "suite", [suite_to_json(basis.suite)])
    [rubric_text] = put_texts(connection, "rubric", [rubric_to_json(basis.rubric)])
    [rule] = put_texts(connection, "rubric_rule", [basis.rubric.text_for(Layer.HUMAN)])
    # What leads decide rests on a text of its own.
    put_texts(connection, "rubric_rule", [basis.rubric.text_for(Layer.ADJUDICATED)])
    return suite_text, rubric_text, rule


def _case_texts(connection: Connection, suite: Suite) -> dict[str, CaseTexts]:
    texts = put_texts(connection, "case", [case_to_json(case) for case in suite.cases])
    rules = put_texts(connection, "case_rule", [grading_text(suite, case) for case in suite.cases])
    return {
        case.key: CaseTexts(text, rule)
        for case, text, rule in zip(suite.cases, texts, rules, strict=True)
    }


def _check_reviewers(connection: Connection, names: Sequence[str]) -> None:
    known = {user.name: user for user in people.list_users(connection)}
    for name in names:
        if name not in known:
            close_name = nearest(name, known)
            hint = f"did you mean {close_name}?" if close_name else "`evalbot users list` shows all"
            raise InputError(f"--reviewers: there is no user {name!r}; {hint}")
        if known[name].is_disabled:
            raise InputError(f"--reviewers: {name} is disabled, and could not sign in")


def _still_here(connection: Connection, plan: CampaignPlan) -> tuple[str, ...]:
    """The reviewers who can sign in; InputError where they are fewer than a unit needs."""
    out = {user.name for user in people.list_users(connection) if user.is_disabled}
    found = tuple(name for name in plan.reviewers if name not in out)
    if len(found) < plan.overlap:
        gone = ", ".join(name for name in plan.reviewers if name in out)
        raise InputError(
            f"{gone} cannot sign in any more, and each answer needs {plan.overlap} of this "
            "campaign's reviewers; let them in again, or draw a new campaign"
        )
    return found


def _refuse_closed(campaign: Campaign) -> None:
    if campaign.closed_at is not None:
        raise InputError(f"campaign {campaign.id} is closed")
