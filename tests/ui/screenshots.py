"""The pictures of the docs: `python -m tests.ui.screenshots docs/images`.

Made from the real pages over a small record with invented models and answers.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.site import instant_server
from evalbot.domain.answers import Timing
from evalbot.domain.reviewing import CampaignPlan
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.reviewing.campaigns import make_campaign
from evalbot.store.database import Database, open_database
from tests.building import add_grades, graded, record, said
from tests.people import add_people
from tests.ui.audit_example import example_record
from tests.ui.reviewing import wait_until_saved
from tests.ui.serving import CHROMIUM_FLAGS, Site, chromium, served

MODELS = {"alpha-7b": 61.0, "beta-14b": 34.0, "gamma-70b": 9.5}
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
CASES = 10


def fill(database: Database, folder: Path) -> Run:
    """A run of three models: one mostly right, one in between, one that falls into traps."""
    suite = read_suite(find_suite("translation", folder))
    suite = replace(suite, cases=suite.cases[:CASES])
    started = datetime.now(UTC) - timedelta(hours=2)
    run = Run(
        id=f"translation-{started:%Y%m%d}-3f9a1c",
        suite=suite,
        rubric=read_rubric(find_rubric(suite.rubric, folder)),
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=1,
        started_at=started,
        finished_at=started + timedelta(minutes=4),
        endpoints=tuple(RunEndpoint(name, {}, fingerprint(name)) for name in MODELS),
        version="0.1.0",
        label="example",
    )
    answers = []
    for number, case in enumerate(suite.cases):
        right, other = case.references[0], case.references[-1]
        wrong = case.traps[0] if case.traps else other[:-2]
        texts = (wrong if number % 3 else right, other if number % 4 else wrong, right)
        for (name, speed), text in zip(MODELS.items(), texts, strict=True):
            timing = Timing(
                ttfot_ms=90 + 900 / speed, total_ms=9000 / speed, decode_tps=speed, source="server"
            )
            answers.append(said(case.key, name, text, timing=timing))
    ids = record(database, run, answers)
    people = []
    for number, (answer, one) in enumerate(zip(ids, answers, strict=True)):
        judged = graded(run, Layer.JUDGE, "strong", one.place.case, "correct")
        people.append((answer, judged))
        if number < 12:
            for name, verdict in (("mia", "wrong" if number % 4 == 1 else "correct"),
                                  ("tom", "correct")):  # fmt: skip
                grade = graded(run, Layer.HUMAN, name, one.place.case, verdict)
                people.append((answer, grade))
    add_grades(database, run, people)
    add_people(database, ann="reviewer", bob="reviewer", lee="lead")
    plan = CampaignPlan(("ann", "bob"), overlap=2, practice=1)
    make_campaign(database, run.id, plan, "lee", folder)
    return run


class Camera:
    """Takes pictures of pages into a folder."""

    def __init__(self, browser: Browser, site: Site, folder: Path) -> None:
        self._browser = browser
        self._site = site
        self._folder = folder

    def take(
        self,
        name: str,
        user: str,
        path: str,
        prepare: Callable[[Page], None],
        *,
        dark: bool = False,
        phone: bool = False,
        locale: str = "en",
    ) -> None:
        """One picture, after the page was prepared."""
        context = self._browser.new_context(
            viewport=PHONE if phone else WIDE,  # type: ignore[arg-type]
            locale=locale,
        )
        context.add_cookies([self._site.cookie(user)])  # type: ignore[list-item]
        page = context.new_page()
        page.goto(f"{self._site.url}{path}{'?__theme=dark' if dark else '?__theme=light'}")
        prepare(page)
        page.wait_for_timeout(400)
        page.screenshot(path=self._folder / f"{name}.png")
        context.close()


def grading(page: Page) -> None:
    page.wait_for_selector("article.answer")
    if ":-" in str(page.locator(".item").get_attribute("data-item")):
        for _ in range(page.locator("article.answer").count()):
            page.keyboard.press("1")
            wait_until_saved(page)
        page.keyboard.press("Enter")
        page.locator(".item[data-item$=':0']").wait_for()
    page.wait_for_selector("article.answer")


def practising(page: Page) -> None:
    page.wait_for_selector("article.answer")
    for _ in range(page.locator("article.answer").count()):
        page.keyboard.press("1")
        wait_until_saved(page)
    page.locator(".feedback").first.wait_for()


def tab(name: str, until: str) -> Callable[[Page], None]:
    def prepare(page: Page) -> None:
        page.get_by_role("tab", name=name).click()
        page.locator(until).first.wait_for()

    return prepare


def results(page: Page) -> None:
    tab("Results", "#panel-results table")(page)
    page.get_by_role("button", name="Draw quality against speed").click()
    page.locator("#panel-charts img").first.wait_for()
    page.wait_for_timeout(800)  # it comes into view; the picture shows the table above it, too
    page.evaluate("window.scrollTo(0, 0)")


def audit(page: Page) -> None:
    tab("Audit", "#panel-audit table.heat")(page)
    page.locator("#panel-audit select[name=judge]").select_option("strong")
    page.locator("#panel-audit h2", has_text="strong against people").wait_for()


def audit_heat(page: Page) -> None:
    audit(page)
    page.get_by_label("Draw figures").check()
    page.locator("#panel-audit figure img").first.wait_for()
    heat = page.locator("#panel-audit h2", has_text="strong against people")
    heat.evaluate("title => title.scrollIntoView()")


def audit_answers(page: Page) -> None:
    audit(page)
    page.locator("button.cell[title='people: wrong, strong: acceptable']").click()
    page.locator("#panel-audit-behind article").first.wait_for()


def audit_ranking(page: Page) -> None:
    audit(page)
    page.get_by_role("button", name="Is the ranking real?").click()
    page.locator("#panel-audit .weighty").wait_for()


def chatting(page: Page) -> None:
    page.get_by_role("tab", name="Chat").click()
    page.locator("#chat-endpoints").get_by_label("gamma-70b").wait_for(state="attached")
    page.wait_for_timeout(500)
    page.locator("#chat-prompt textarea").fill("When does the meeting begin?")
    page.locator("#chat-prompt textarea").press("Enter")
    page.get_by_text("Which is best?").wait_for()


def audit_pictures(browser: Browser, folder: Path) -> None:
    """Those of the Audit page, over a record of its own."""
    with (
        tempfile.TemporaryDirectory() as home,
        open_database(f"sqlite:///{home}/evalbot.db") as database,
    ):
        example_record(database, Path(home))
        with served(database, Path(home)) as site:
            camera = Camera(browser, site, folder)
            camera.take("audit", "lee", "/lead/", audit)
            camera.take("audit-heat-dark", "lee", "/lead/", audit_heat, dark=True)
            camera.take("audit-answers", "lee", "/lead/", audit_answers)
            camera.take("audit-ranking", "lee", "/lead/", audit_ranking)
            camera.take("audit-phone", "lee", "/lead/", audit_heat, phone=True)


def main(folder: Path) -> None:
    """Take them all."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    with (
        tempfile.TemporaryDirectory() as home,
        instant_server() as address,
        open_database(f"sqlite:///{home}/evalbot.db") as database,
        sync_playwright() as playwright,
    ):
        lines = [f"  - {{name: {name}, base_url: '{address}/v1'}}" for name in MODELS]
        Path(home, "evalbot.yaml").write_text("\n".join(["endpoints:", *lines]), "utf-8")
        fill(database, Path(home))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        with served(database, Path(home)) as site:
            camera = Camera(browser, site, folder)
            camera.take("practice", "ann", "/review/", practising)
            camera.take("review", "ann", "/review/", grading)
            camera.take("review-ja-dark", "ann", "/review/", grading, dark=True, locale="ja")
            camera.take("review-phone", "ann", "/review/", grading, phone=True, locale="zh-CN")
            camera.take("campaigns", "lee", "/lead/", tab("Campaigns", "section.card"))
            camera.take("decide", "lee", "/lead/", tab("Decide", "section.card"))
            camera.take("runs", "lee", "/lead/", tab("Runs", "#panel-runs"))
            camera.take("results", "lee", "/lead/", results)
            camera.take("chat", "lee", "/lead/", chatting)
        audit_pictures(browser, folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
