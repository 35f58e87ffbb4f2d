"""Campaigns and their draws in the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from evalbot.domain.reviewing import Campaign, CampaignPlan, Draw, Layout, Policy
from evalbot.errors import InputError, NotFoundError
from evalbot.store.review_schema import campaign_table, draw_table
from evalbot.store.schema import answer_table, grade_table, run_table


def add_campaign(connection: Connection, campaign: Campaign) -> None:
    """Write a new campaign; the texts it names must be there."""
    connection.execute(
        insert(campaign_table).values(
            id=campaign.id,
            run=campaign.run,
            plan=_plan_to_json(campaign.plan),
            suite_text=campaign.suite_text,
            rubric_text=campaign.rubric_text,
            rubric_rule=campaign.rubric_rule,
            created_by=campaign.created_by,
            created_at=campaign.created_at,
            closed_at=campaign.closed_at,
        )
    )


def get_campaign(connection: Connection, campaign_id: str, *, lock: bool = False) -> Campaign:
    """The campaign of this id, or the only one that begins so.

    lock: nobody else may change it until the transaction ends; rows that name it may be added.
    NotFoundError where there is none.
    """
    query = select(campaign_table).where(campaign_table.c.id == campaign_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
    if row is None and campaign_id:
        like = campaign_table.c.id.startswith(campaign_id, autoescape=True)
        rows = connection.execute(select(campaign_table).where(like).limit(2)).all()
        if len(rows) > 1:
            raise InputError(f"campaign {campaign_id!r} fits several; type it whole")
        row = rows[0] if rows else None
    if row is None:
        raise NotFoundError(f"there is no campaign {campaign_id!r}")
    return _campaign(row)


def list_campaigns(connection: Connection, run: str | None = None) -> list[Campaign]:
    """All campaigns, or those of a run, newest first."""
    query = select(campaign_table).order_by(campaign_table.c.created_at.desc(), campaign_table.c.id)
    if run is not None:
        query = query.where(campaign_table.c.run == run)
    return [_campaign(row) for row in connection.execute(query)]


def runs_with_people(connection: Connection) -> list[str]:
    """The runs that people have graded, also by import, newest first."""
    rows = connection.execute(
        select(run_table.c.id)
        .where(
            select(grade_table.c.id)
            .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
            .where(answer_table.c.run == run_table.c.id, grade_table.c.layer == "human")
            .exists()
        )
        .order_by(run_table.c.started_at.desc(), run_table.c.id)
    )
    return list(rows.scalars())


def close_campaign(connection: Connection, campaign_id: str, at: datetime | None) -> None:
    """Close a campaign, or open it again (None)."""
    connection.execute(
        update(campaign_table).where(campaign_table.c.id == campaign_id).values(closed_at=at)
    )


def add_draw(connection: Connection, draw: Draw) -> None:
    """Write a draw."""
    fields = {**asdict(draw), "policy": str(draw.policy), "chances": dict(draw.chances)}
    connection.execute(insert(draw_table).values(**fields))


def draws_of(connection: Connection, campaign_id: str) -> list[Draw]:
    """The draws of a campaign, first to last."""
    rows = connection.execute(
        select(draw_table).where(draw_table.c.campaign == campaign_id).order_by(draw_table.c.number)
    )
    return [
        Draw(
            campaign=row.campaign,
            number=row.number,
            policy=Policy(row.policy),
            seed=row.seed,
            budget=row.budget,
            chances=row.chances,
            by=row.by,
            at=row.at,
        )
        for row in rows
    ]


def next_draw_number(connection: Connection, campaign_id: str) -> int:
    """The number of a campaign's next draw; the first is 1."""
    query = select(func.max(draw_table.c.number)).where(draw_table.c.campaign == campaign_id)
    return (connection.execute(query).scalar_one_or_none() or 0) + 1


def _plan_to_json(plan: CampaignPlan) -> Mapping[str, Any]:
    return {**asdict(plan), "policy": str(plan.policy), "layout": str(plan.layout)}


def _campaign(row: Row[Any]) -> Campaign:
    plan = CampaignPlan(
        **{
            **row.plan,
            "reviewers": tuple(row.plan["reviewers"]),
            "policy": Policy(row.plan["policy"]),
            "layout": Layout(row.plan["layout"]),
        }
    )
    return Campaign(
        id=row.id,
        run=row.run,
        plan=plan,
        suite_text=row.suite_text,
        rubric_text=row.rubric_text,
        rubric_rule=row.rubric_rule,
        created_by=row.created_by,
        created_at=row.created_at,
        closed_at=row.closed_at,
    )
