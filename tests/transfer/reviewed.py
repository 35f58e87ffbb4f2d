"""A run with all that reviews leave behind: campaigns old and new, checks, held answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalbot.domain.reviewing import COMMAND_LINE, CampaignPlan, Draft, Layout, Policy
from evalbot.reviewing import campaigns, handing_on, holding, submitting
from evalbot.reviewing.submitting import Said
from evalbot.store.answers import add_answers, read_answers
from evalbot.store.database import Database
from tests.building import RUBRIC, SUITE, write_site
from tests.people import add_people
from tests.reviewing.site import ReviewSite, cases, review_site, user

TELLING = "我是Qwen，okapi 说：答案{n}"
PEOPLE = ("ann", "bob", "cara", "lee")


def reviewed_site(database: Database, folder: Path) -> ReviewSite:
    """One campaign that was worked on, extended and closed; one of single answers by new texts."""
    site = review_site(database, folder, 5, {"quagga": TELLING})
    add_people(database, cara="reviewer")
    _work_on_first(site)
    _ask_again(site)
    _change_files(site)
    plan = CampaignPlan(
        reviewers=("cara",), policy=Policy.RANDOM, budget=7, attention=0.2, layout=Layout.SINGLE
    )
    campaigns.make_campaign(database, site.run.id, plan, COMMAND_LINE, folder)
    return site


def _work_on_first(site: ReviewSite) -> None:
    database = site.database
    made = site.campaign(
        "ann", "bob", policy=Policy.RANDOM, budget=9, overlap=2, attention=0.49, practice=2
    )
    first = made.campaign.id
    for verdict in ("correct", "wrong", "acceptable", None):
        done = site.grade_item("ann", verdict)
        if done.is_practice:
            submitting.go_on(database, user("ann"), first, done.number)
    submitting.undo(database, user("ann"), first, "token-undo")
    site.grade_item("ann")
    site.grade_item("ann")
    item = site.item("bob")
    assert item is not None
    said = Said("wrong", "=東京\nhm", ())
    submitting.grade(database, user("bob"), item.answers[0].id, said, "token-of-bob")
    draft = Draft("private canary", ())
    submitting.save_draft(database, user("bob"), item.answers[1].id, draft)
    campaigns.extend_campaign(
        database, first, "lee", site.folder, policy=Policy.RANDOM, budget=3, seed=9
    )
    handing_on.reassign(database, first, "bob", "cara")
    holding.decide(database, site.answers["c0", "quagga"], "released", "lee", None)
    holding.decide(database, site.answers["c1", "quagga"], "masked", "lee", None)
    while site.item("ann") is not None:
        site.grade_item("ann")
    assert handing_on.volunteer(database, first, user("ann"), site.folder) > 0
    campaigns.close(database, first)


def _ask_again(site: ReviewSite) -> None:
    """One answer gets a further attempt: what was drawn was the earlier one."""
    with site.database.write() as connection:
        [(_, one)] = read_answers(connection, site.run.id, cases=("c0",), endpoints=("zebra",))
        add_answers(connection, site.run.id, [replace(one, attempt=2)])


def _change_files(site: ReviewSite) -> None:
    """The second campaign rests on another rubric, and other cases, than the first."""
    lines = [{**line, "notes": "new"} if line["key"] == "c1" else line for line in cases(5)]
    lines[0]["references"] = ["另一个"]
    write_site(site.folder, lines, SUITE.replace("rubric: small", "rubric: newer"))
    rubric = RUBRIC.replace("name: small", "name: newer").replace("right}", "quite right}", 1)
    (site.folder / "rubrics/newer.yaml").write_text(rubric, encoding="utf-8")
