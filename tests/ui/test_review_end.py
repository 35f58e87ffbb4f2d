"""Where all is graded: the last grade can be taken back, and the end is of what was just done."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.ui.reviewing import (
    item_number,
    open_page,
    review_server,
    wait_for_item,
    wait_until_saved,
)


def grade_all(page: Page, count: int) -> None:
    page.wait_for_selector("article.answer")
    for _ in range(count):
        page.keyboard.press("1")
        wait_until_saved(page)
    expect(page.get_by_text("All done. Thank you!")).to_be_visible()


def test_the_very_last_grade_can_be_taken_back_and_looked_at_by_keys(
    tmp_path: Path, browser: Browser
) -> None:
    with review_server(tmp_path, 2) as (site, running):
        site.campaign()
        page = open_page(browser, running, "ann")
        grade_all(page, 6)
        page.keyboard.press("u")
        wait_for_item(page, 1)
        assert page.locator("article.answer[data-graded='1']").count() == 2
        page.keyboard.press("3")
        wait_until_saved(page)
        expect(page.get_by_text("All done. Thank you!")).to_be_visible()
        page.keyboard.press("ArrowLeft")
        wait_for_item(page, 1)
        assert [one.verdict for _, one in site.grades()] == ["correct"] * 6 + [None, "wrong"]


def test_of_two_reviews_the_end_is_of_the_one_that_was_just_done(
    tmp_path: Path, browser: Browser
) -> None:
    with review_server(tmp_path, 4) as (site, running):
        site.campaign(policy="random", budget=3)
        page = open_page(browser, running, "ann")
        grade_all(page, 3)
        site.campaign(policy="random", budget=6, seed=2)
        page.reload()
        grade_all(page, 6)
        expect(page.get_by_text("You graded 6 answers.")).to_be_visible()
        page.get_by_role("button", name="Grade some more").click()
        wait_for_item(page, 2)
        assert item_number(page) == 2
