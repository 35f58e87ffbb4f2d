"""What stands on a page can be read, in the light and in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.ui.contrast import faint_texts
from tests.ui.reviewing import open_page, review_server, wait_for_item, wait_until_saved

TABS = {
    "Runs": "#panel-runs li",
    "Results": "#panel-results table",
    "Audit": "#panel-audit p:not(.waiting)",
    "Campaigns": "#panel-campaigns section",
    "Decide": "#panel-decide form",
    "Chat": "#panel-chat .chat",
}
"""By name, what is there when it is."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_text_is_too_pale(tmp_path: Path, browser: Browser, theme: str) -> None:
    with review_server(tmp_path, 2) as (site, running):
        site.campaign(practice=1)
        page = open_page(browser, running, "ann", f"/review/?__theme={theme}")
        wait_for_item(page, -1)
        assert faint_texts(page) == []
        for _ in range(2):
            page.keyboard.press("1")
            wait_until_saved(page)
        page.locator(".feedback").first.wait_for()
        for fold in page.locator("details.differences:not([open]) > summary").all():
            fold.click()
        page.keyboard.press("?")
        assert faint_texts(page) == []
        lead = open_page(browser, running, "lee", f"/lead/?__theme={theme}")
        for tab, sign in TABS.items():
            lead.get_by_role("tab", name=tab).click()
            lead.locator(sign).first.wait_for()
            assert faint_texts(lead) == [], tab
