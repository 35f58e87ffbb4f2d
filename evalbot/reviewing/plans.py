"""What may be asked of a campaign, and of whom: anything else is refused in words."""

from __future__ import annotations

from collections.abc import Sequence

from evalbot.domain.reviewing import Campaign, CampaignPlan, Policy
from evalbot.errors import InputError
from evalbot.formats.problems import nearest
from evalbot.store import people
from evalbot.store.database import Connection

LARGEST = 2**31 - 1
"""What both databases can hold as a whole number."""


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


def check_reviewers(connection: Connection, names: Sequence[str]) -> None:
    """Raises InputError where one of them is not there, or could not sign in."""
    known = {user.name: user for user in people.list_users(connection)}
    for name in names:
        if name not in known:
            close_name = nearest(name, known)
            hint = f"did you mean {close_name}?" if close_name else "`evalbot users list` shows all"
            raise InputError(f"--reviewers: there is no user {name!r}; {hint}")
        if known[name].is_disabled:
            raise InputError(f"--reviewers: {name} is disabled, and could not sign in")


def still_here(connection: Connection, plan: CampaignPlan) -> tuple[str, ...]:
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


def refuse_closed(campaign: Campaign) -> None:
    """Raises InputError where a campaign takes no more."""
    if campaign.closed_at is not None:
        raise InputError(f"campaign {campaign.id} is closed")
