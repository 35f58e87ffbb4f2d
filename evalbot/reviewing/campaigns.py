"""Campaigns: made, extended, closed."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.json_form import rubric_to_json, suite_to_json
from evalbot.domain.reviewing import Campaign, CampaignPlan, Policy
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.errors import InputError
from evalbot.grading.basis import Basis, basis_of
from evalbot.reviewing.draws import Made, draw_and_deal
from evalbot.reviewing.known import known_answers
from evalbot.reviewing.material import gather
from evalbot.reviewing.plans import check_plan, check_reviewers, refuse_closed, still_here
from evalbot.store import campaigns, runs
from evalbot.store.database import Connection, Database
from evalbot.store.texts import put_texts


def make_campaign(
    database: Database, run_id: str, plan: CampaignPlan, by: str, folder: Path
) -> Made:
    """Draw a campaign from a run; InputError where it cannot be drawn as asked.

    Its texts and rubric are today's, and stay those of the campaign as long as it lasts.
    """
    check_plan(plan)
    at = datetime.now(UTC)
    with database.write() as connection:
        check_reviewers(connection, plan.reviewers)
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
        return draw_and_deal(connection, campaign, plan, run, basis, material, by, at)


def extend_campaign(
    database: Database,
    campaign_id: str,
    by: str,
    folder: Path,
    *,
    policy: Policy,
    budget: int | None,
    seed: int,
    run_id: str | None = None,
) -> Made:
    """Draw more for a campaign; what was drawn before stays, and its chances are joined.

    run_id: the run it must be of, where one is named.

    Reviewers who cannot sign in any more are given nothing. Raises InputError where the rubric
    changed since, too few reviewers are left, or nothing is left to draw.
    """
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        refuse_closed(campaign)
        run = runs.get_run(connection, campaign.run)
        if run_id is not None and runs.get_run(connection, run_id).id != run.id:
            raise InputError(f"campaign {campaign.id} is of run {run.id}, not of {run_id}")
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
            reviewers=still_here(connection, campaign.plan),
        )
        check_plan(plan)
        return draw_and_deal(connection, campaign, plan, run, basis, material, by, at)


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
