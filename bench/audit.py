"""Audits of large records, and the leads' Audit page over one: six models, two judges, three
people on every answer.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.graded import JUDGES, LEAD, MODELS, PEOPLE, RUN, fill
from bench.served import open_page, serve
from bench.site import write_site
from evalbot.auditing.audit import audit
from evalbot.store.database import open_database
from tests.ui.serving import CHROMIUM_FLAGS, chromium

TINY, SMALL, LARGE = 30, 2_000, 20_000
# From a click until what it opens stands in the document and was painted.
TIMED = """(pressed, wanted) => new Promise(done => {
  const began = performance.now();
  const look = new MutationObserver(() => {
    if (!document.querySelector(wanted)) return;
    look.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  });
  look.observe(document, {childList: true, subtree: true});
  pressed.click();
})"""
GOALS = {SMALL: 2, LARGE: 20}


def measure(folder: Path) -> Iterator[str]:
    gc.set_threshold(50_000, 20, 50)  # as in evalbot's own process
    for cases in (TINY, SMALL, LARGE):  # the first one imports what audits need
        own = folder / str(cases)
        own.mkdir()
        write_site(own, "http://127.0.0.1:1", cases, 1)
        with open_database("sqlite:///evalbot.db", own) as database:
            fill(database, own)
            began = time.perf_counter()
            found = audit(database, [RUN], own)
            took = time.perf_counter() - began
        assert found.reviewed == MODELS * cases
        if cases in GOALS:
            size = f"{MODELS} models, {cases} cases, {len(JUDGES)} judges, {len(PEOPLE)} people"
            yield f"audit of {size}, after imports: {took:.1f} s (goal {GOALS[cases]})"
    yield from _page(folder / str(SMALL))


def _page(folder: Path) -> Iterator[str]:
    """From the click on the tab to the table of verdicts on the screen, and then to answers."""
    with (
        open_database("sqlite:///evalbot.db", folder) as database,
        serve(folder) as served,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        for which in ("at first", "again"):
            page = open_page(browser, database, served, LEAD, "/lead/")
            tab = page.get_by_role("tab", name="Audit")
            tab.wait_for()
            page.wait_for_timeout(1000)
            opened = tab.evaluate(TIMED, "#panel-audit table.heat") / 1000
            cell = page.locator("table.heat td.same button").first
            behind = cell.evaluate(TIMED, "#panel-audit-behind article") / 1000
            yield f"the page Audit over {MODELS} x {SMALL}, {which}: {opened:.2f} s (goal 1.5)"
            yield f"the answers behind a cell: {behind:.2f} s"
            page.close()
        browser.close()
