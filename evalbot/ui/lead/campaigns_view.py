"""The page of campaigns as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from evalbot.domain.people import User
from evalbot.domain.reviewing import Draw, Layout, Policy
from evalbot.formats.words import count
from evalbot.reviewing.overview import CampaignOverview, ReviewerLine
from evalbot.store.assignments import HeldAnswer
from evalbot.store.run_lists import RunSummary
from evalbot.ui.lead.parts import alert, choices, moment, notice
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

POLICIES = {
    Policy.ALL: "all answers",
    Policy.RANDOM: "at random",
    Policy.STRATIFIED: "stratified by judge or band",
    Policy.UNCERTAIN: "where the judge is unsure",
}
LAYOUTS = {
    Layout.TOGETHER: "all answers to a case together",
    Layout.SINGLE: "one answer at a time",
}
OUTDATED = Markup(
    "<p class='warn'>The rubric has changed since: grades of this campaign are stale, and count in "
    "no rate. Close it, and draw a new one.</p>"
)
LONGEST_SHOWN = 1_500


def campaigns_page(
    found: Sequence[CampaignOverview],
    runs: Sequence[RunSummary],
    users: Sequence[User],
    told: str | None,
    problem: str | None,
) -> str:
    """The form for a new campaign, and every campaign there is."""
    return Markup("{}{}{}{}").format(
        alert(problem),
        notice(told),
        _form(runs, users, is_open=not found or problem is not None),
        Markup("").join(_campaign(one, users) for one in found),
    )


def _form(runs: Sequence[RunSummary], users: Sequence[User], *, is_open: bool) -> Markup:
    if not users:
        return Markup("<p>{}</p>").format(
            "There are no users yet: evalbot users add NAME --role reviewer adds one."
        )
    return Markup(
        "<details{open}><summary>New campaign</summary><form data-once {act}><div class='fields'>"
        "<label>Run{runs}</label><label>Draw{policies}</label>"
        "<label>Answers in all<input name='budget' type='number' min='1' placeholder='all'></label>"
        "<label>Show{layouts}</label>"
        "<label>Reviewers on each answer"
        "<input name='overlap' type='number' min='1' value='1'></label>"
        "<label>Attention checks, %<input name='attention' type='number' min='0' max='49' "
        "step='any' value='0'></label>"
        "<label>Practice items<input name='practice' type='number' min='0' value='0'></label>"
        "<label>Seed<input name='seed' type='number' value='1'></label></div>"
        "<fieldset class='row'><legend>Reviewers</legend>{users}</fieldset>"
        "<p><label><input type='checkbox' name='reveal_judge'> Show the judge's grade after each "
        "item, to keep or change one's own</label></p>"
        "<button class='main'>Draw the campaign</button></form></details>"
    ).format(
        open=Markup(" open") if is_open else "",
        act=action_attribute(do="make"),
        runs=choices("run", {one.run: _run_name(one) for one in runs}),
        policies=choices("policy", {str(key): name for key, name in POLICIES.items()}),
        layouts=choices("layout", {str(key): name for key, name in LAYOUTS.items()}),
        users=Markup("").join(
            Markup("<label><input type='checkbox' name='reviewers' value='{}'> {}</label>").format(
                one.name, as_text(one.name)
            )
            for one in users
        ),
    )


def _run_name(run: RunSummary) -> str:
    label = f" ({run.label})" if run.label else ""
    return f"{run.run}{label}: {run.answers} answers"


def _draw(draw: Draw) -> str:
    """How one draw was made, and of how many answers at most."""
    size = "" if draw.budget is None else f" {count(draw.budget, 'answer')}"
    return f"{POLICIES[draw.policy]}{size}"


def _campaign(one: CampaignOverview, users: Sequence[User]) -> Markup:
    campaign, plan = one.campaign, one.campaign.plan
    facts = [
        *(_draw(draw) for draw in one.draws),
        LAYOUTS[plan.layout],
        f"{plan.overlap} on each" if plan.overlap > 1 else "",
        f"{100 * plan.attention:g} % checks" if plan.attention else "",
        f"{plan.practice} to practise" if plan.practice else "",
        "judge revealed" if plan.reveal_judge else "",
        f"seed {plan.seed}",
        f"by {campaign.created_by}, {moment(campaign.created_at)}",
    ]
    return Markup(
        "<section class='card' data-campaign='{id}'><h2>{title} <span class='quiet'>{run} · "
        "campaign {id}{closed}</span></h2><p class='quiet'>{facts}</p>"
        "<div class='scroll'><table><thead><tr><th>reviewer<th class='number'>graded<th>"
        "<th>last<th class='number'>checks right<th></tr></thead><tbody>{lines}</tbody></table>"
        "</div>{outdated}{held}{actions}</section>"
    ).format(
        id=campaign.id,
        title=as_text(one.title),
        run=as_text(campaign.run),
        closed=" · closed" if campaign.closed_at else "",
        facts=" · ".join(fact for fact in facts if fact),
        lines=Markup("").join(_reviewer(one, line, users) for line in one.reviewers),
        outdated=OUTDATED if one.is_outdated else "",
        held=_held(one),
        actions=_actions(one),
    )


def _reviewer(one: CampaignOverview, line: ReviewerLine, users: Sequence[User]) -> Markup:
    share = 100 * line.done / line.total if line.total else 0
    others = {user.name: user.name for user in users if user.name != line.reviewer}
    hand_on: Markup | str = ""
    if one.campaign.closed_at is None and line.done < line.total and others:
        hand_on = Markup(
            "<form class='row' {}>{}<button data-sure='{}'>Hand on the rest</button></form>"
        ).format(
            action_attribute(do="reassign", campaign=one.campaign.id, reviewer=line.reviewer),
            choices("to", others),
            f"Hand what {line.reviewer} has not graded to somebody else?",
        )
    checks = f"{line.attention_right} of {line.attention_seen}" if line.attention_seen else "–"
    return Markup(
        "<tr><td>{}<td class='number'>{} of {}<td><div class='bar'><i style='width:{:.0f}%'></i>"
        "</div><td>{}<td class='number'>{}<td>{}</tr>"
    ).format(
        as_text(line.reviewer), line.done, line.total, share,
        moment(line.last_at) if line.last_at else "–", checks, hand_on,
    )  # fmt: skip


def _held(one: CampaignOverview) -> Markup:
    counts = one.held_counts
    if not counts.all:
        return Markup("")
    left = counts.all - len(one.held)
    return Markup("<details{}><summary>{}</summary>{}{}{}</details>").format(
        Markup(" open") if counts.waiting else "",
        f"Answers that name a model or its maker: {counts.waiting} of {counts.all} wait for you",
        Markup("<p><button {} data-sure='{}'>Mask the names in all that wait</button></p>").format(
            action_attribute(do="mask_all", campaign=one.campaign.id),
            f"Mask the names in {counts.waiting} answers?",
        )
        if counts.waiting > 1
        else "",
        Markup("").join(_held_answer(answer) for answer in one.held),
        Markup("<p class='quiet'>and {} more</p>").format(left) if left else "",
    )


def _held_answer(answer: HeldAnswer) -> Markup:
    held = answer.held
    buttons = [
        Markup("<button {} {}>{}</button>").format(
            action_attribute(
                do="hold", answer=held.answer_id, decision=decision, before=held.decision
            ),
            Markup("disabled") if held.decision == decision else "",
            label,
        )
        for decision, label in (("masked", "Mask the names"), ("released", "Release as it is"))
    ]
    state = "" if held.decision is None else f"{held.decision} by {held.by}"
    return Markup(
        "<div class='held'><p><b>{}</b> <span class='warn'>{}</span> <span class='quiet'>{}</span>"
        "</p><div class='text'>{}</div><p class='row'>{}</p></div>"
    ).format(
        as_text(answer.case),
        as_text(", ".join(held.names)),
        as_text(state),
        as_text((held.shown or answer.text)[:LONGEST_SHOWN]),
        Markup("").join(buttons),
    )


def _actions(one: CampaignOverview) -> Markup:
    campaign = one.campaign
    if campaign.closed_at is not None:
        return Markup("<p><button {}>Open again</button></p>").format(
            action_attribute(do="reopen", campaign=campaign.id)
        )
    return Markup(
        "<details><summary>Extend or close</summary><form class='fields' data-once {extend}>"
        "<label>Draw{policies}</label>"
        "<label>More answers<input name='budget' type='number' min='1' placeholder='all'"
        " value='{budget}'></label>"
        "<label>Seed<input name='seed' type='number' value='{seed}'></label>"
        "<button>Draw more</button></form>"
        "<p><button {close} data-sure='Close this campaign?'>Close</button></p></details>"
    ).format(
        extend=action_attribute(do="extend", campaign=campaign.id),
        policies=choices(
            "policy",
            {str(key): name for key, name in POLICIES.items()},
            str(campaign.plan.policy),
        ),
        budget=campaign.plan.budget or "",
        seed=campaign.plan.seed + len(one.draws),
        close=action_attribute(do="close", campaign=campaign.id),
    )
