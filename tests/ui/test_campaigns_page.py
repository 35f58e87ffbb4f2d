"""Campaigns on the lead's page: what is asked for twice by one hand is done once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from evalbot.reviewing.overview import campaign_overviews
from tests.ui.reviewing import open_page, review_server


def test_a_double_click_draws_one_campaign(tmp_path: Path, browser: Browser) -> None:
    with review_server(tmp_path) as (site, running):
        page = open_page(browser, running, "lee", "/lead/")
        page.get_by_role("tab", name="Campaigns").click()
        form = page.locator("#panel-campaigns form").first
        form.get_by_label("ann").check()
        form.get_by_role("button", name="Draw the campaign").dblclick()
        expect(page.locator("#panel-campaigns")).to_contain_text("18 answers drawn")
        page.wait_for_timeout(1_500)  # for a second one to come
        assert len(campaign_overviews(site.database)) == 1
