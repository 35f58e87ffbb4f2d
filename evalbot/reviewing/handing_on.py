"""Answers that change hands: more for who asks for it, and what is open to somebody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from evalbot.domain.people import User
from evalbot.errors import InputError
from evalbot.grading.basis import basis_of
from evalbot.reviewing.dealing import Dealer, new_id
from evalbot.reviewing.draws import put_case_texts
from evalbot.reviewing.holding import hold_back
from evalbot.reviewing.material import gather
from evalbot.reviewing.plans import check_reviewers, refuse_closed
from evalbot.store import assignments, campaigns, queue, runs
from evalbot.store.database import Database

VOLUNTEERED = 10
"""Units that a reviewer who asks for more is given at a time."""


def volunteer(database: Database, campaign_id: str, user: User, folder: Path) -> int:
    """More answers for a reviewer who is done and asks for them; how many there are.

    None while there is something open, so that asking twice at once gives no more than once.
    They have no chance of being drawn, so corrected rates leave them out.
    """
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = campaigns.get_campaign(connection, campaign_id, lock=True)
        refuse_closed(campaign)
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
            campaign.id, mine[0].draw, campaign.plan, put_case_texts(connection, basis.suite), at,
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
        refuse_closed(campaign)
        check_reviewers(connection, [to])
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
