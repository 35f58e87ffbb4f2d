"""Campaigns and adjudication in a real browser, as a lead uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.domain.rubrics import Layer
from evalbot.reviewing.overview import campaign_overviews
from tests.building import add_grades, graded
from tests.reviewing.site import ReviewSite
from tests.ui.reviewing import open_page, review_server, wait_for_item
from tests.ui.serving import Site

Served = tuple[ReviewSite, Site]
TELLING = "我是Qwen：答案{n} <b>bold</b><img src=x onerror='window.hurt = 1'>"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Served]:
    with review_server(tmp_path, 3, quagga=TELLING) as served:
        yield served


def open_tab(browser: Browser, running: Site, name: str) -> Page:
    page = open_page(browser, running, "lee", "/lead/")
    page.get_by_role("tab", name=name).click()
    return page


def say(site: ReviewSite, grader: str, verdict: str, case: str = "c0") -> None:
    grade = graded(site.run, Layer.HUMAN, grader, case, verdict)
    add_grades(site.database, site.run, [(site.answers[case, "okapi"], grade)])


def test_a_campaign_is_drawn_followed_and_closed(both: Served, browser: Browser) -> None:
    site, running = both
    page = open_tab(browser, running, "Campaigns")
    form = page.locator("form", has_text="Draw the campaign")
    form.get_by_label("ann").check()
    form.get_by_label("bob").check()
    form.get_by_label("Reviewers on each answer").fill("2")
    form.get_by_role("button", name="Draw the campaign").click()
    expect(page.locator("#panel-campaigns")).to_contain_text("9 answers drawn; items: ann 3, bob 3")
    card = page.locator("section.card")
    expect(card).to_contain_text("0 of 9")
    site.grade_item("ann")
    page.get_by_role("tab", name="Decide").click()
    page.get_by_role("tab", name="Campaigns").click()
    expect(card).to_contain_text("2 of 9")
    page.once("dialog", lambda dialog: dialog.accept())
    card.get_by_text("Extend or close").click()
    card.get_by_role("button", name="Close").click()
    expect(card).to_contain_text("closed")
    assert site.item("ann") is None
    card.get_by_role("button", name="Open again").click()
    expect(card).not_to_contain_text("closed")


def test_what_cannot_be_drawn_is_told_and_nothing_is_made(both: Served, browser: Browser) -> None:
    site, running = both
    page = open_tab(browser, running, "Campaigns")
    form = page.locator("form", has_text="Draw the campaign")
    form.get_by_label("ann").check()
    form.get_by_label("Draw").first.select_option("uncertain")
    form.get_by_label("Answers in all").fill("6")
    form.get_by_role("button", name="Draw the campaign").click()
    expect(page.get_by_role("alert")).to_contain_text("none has graded this run")
    assert campaign_overviews(site.database) == []


def test_answers_that_name_a_model_are_masked_before_anybody_sees_them(
    both: Served, browser: Browser
) -> None:
    site, running = both
    site.campaign()
    page = open_tab(browser, running, "Campaigns")
    expect(page.get_by_text("3 of 3 wait for you")).to_be_visible()
    held = page.locator(".held").first
    expect(held).to_contain_text("<b>bold</b><img src=x")
    assert page.locator(".held img, .held b b").count() == 0
    page.locator(".held").first.get_by_role("button", name="Mask the names").click()
    expect(page.get_by_text("2 of 3 wait for you")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Mask the names in all that wait").click()
    expect(page.get_by_text("0 of 3 wait for you")).to_be_visible()
    assert page.evaluate("window.hurt") is None
    reviewer = open_page(browser, running, "ann")
    wait_for_item(reviewer, 0)
    expect(reviewer.locator("article.answer")).to_have_count(3)
    assert "Qwen" not in reviewer.content()


def test_a_lead_adjudicates_with_a_reason(both: Served, browser: Browser) -> None:
    site, running = both
    say(site, "ann", "wrong")
    say(site, "bob", "correct")
    say(site, "ann", "acceptable", "c1")
    say(site, "bob", "correct", "c1")
    page = open_tab(browser, running, "Decide")
    expect(page.get_by_text("2 of 2 disagreements are open")).to_be_visible()
    # The worst is before the lead at once, with every layer.
    card = page.locator("section.card")
    expect(card.locator("h2")).to_have_text("c0")
    for word in ("ann", "wrong", "bob", "correct", "auto"):
        expect(card.locator("tbody")).to_contain_text(word)
    card.get_by_label("Reason").fill("the sense is kept")
    card.get_by_role("button", name="acceptable").click()
    expect(card.locator("h2")).to_have_text("c1")
    expect(card.get_by_label("Reason")).to_have_value("")  # nothing of the one before stays
    [(_, grade)] = site.grades(Layer.ADJUDICATED)
    assert (grade.grader, grade.verdict, grade.rationale) == (
        "lee", "acceptable", "the sense is kept",
    )  # fmt: skip


def test_the_second_of_two_leads_is_told_and_keeps_the_reason(
    both: Served, browser: Browser
) -> None:
    site, running = both
    say(site, "ann", "wrong")
    say(site, "bob", "correct")
    pages = [open_tab(browser, running, "Decide") for _ in range(2)]
    for page in pages:
        page.get_by_label("Reason").fill("so")
    pages[0].get_by_role("button", name="acceptable").click()
    expect(pages[0].get_by_text("0 of 1 disagreements are open")).to_be_visible()
    pages[1].get_by_role("button", name="wrong").last.click()
    expect(pages[1].get_by_role("alert")).to_contain_text("meanwhile (adjudicated: acceptable)")
    expect(pages[1].get_by_label("Reason")).to_have_value("so")
    assert len(site.grades(Layer.ADJUDICATED)) == 1
