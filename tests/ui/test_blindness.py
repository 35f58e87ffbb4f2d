"""What a reviewer's browser receives in a whole review tells nothing of whose the answers are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser

from evalbot.domain.answers import Timing
from evalbot.domain.reviewing import CampaignPlan
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import RunEndpoint
from evalbot.fingerprint import fingerprint
from evalbot.reviewing import holding
from evalbot.reviewing.campaigns import make_campaign
from evalbot.reviewing.overview import campaign_overviews
from evalbot.store.database import Database, open_database
from tests.building import add_grades, graded, record, said, small_run, write_site
from tests.people import add_people
from tests.reviewing.site import cases
from tests.ui.reviewing import Received, wait_for_item, wait_until_saved
from tests.ui.serving import Site, served_by_command

CANARIES = ["zebra-canary-7b", "okapi-canary-35b", "quagga-canary-120b"]
SECRETS = [
    *CANARIES, "canaryfamily", "canaryquant", "canarybox", "canaryfile", "canarylabel",
    "canaryhost", "canaryrationale", "canaryjudge", "canaryhint", "4321.98", "8765.43",
    "canaryflag", "canarykey",
]  # fmt: skip
COUNT = 5


def endpoint(name: str) -> RunEndpoint:
    file = f"{name}-canaryfile.gguf"
    settings = {"name": name, "model": file, "sampling": {"stop": "canaryhint"}}
    return RunEndpoint(
        name, settings, fingerprint(name), family="canaryfamily", quantisation="canaryquant",
        hardware="canarybox", model_id=f"/models/{file}",
    )  # fmt: skip


def fill(database: Database, folder: Path, verdict: str, speed: float) -> None:
    """A judged run of canaries; one of the answers names its model."""
    write_site(folder, cases=cases(COUNT))
    (folder / "evalbot.yaml").write_text(
        "endpoints:\n"
        + "".join(
            f"  - {{name: {name}, base_url: 'http://canaryhost:9/v1', api_key_env: canarykey}}\n"
            for name in CANARIES
        )
        + "judges:\n  - {name: canaryjudge, model: openai/canaryjudge}\n",
        "utf-8",
    )
    run = replace(
        small_run(folder),
        id="small-20261130-abc123",
        endpoints=tuple(endpoint(name) for name in CANARIES),
        label="canarylabel",
    )
    timing = Timing(ttfot_ms=speed, total_ms=speed, decode_tps=speed, source="server")
    texts = {CANARIES[0]: "答案{}", CANARIES[1]: "别的{}", CANARIES[2]: "错误{}"}
    answers = [
        said(case.key, name, text.format(case.key[1:]), timing=timing)
        for case in run.suite.cases
        for name, text in texts.items()
    ]
    answers[0] = said("c0", CANARIES[0], f"我是{CANARIES[0]}：答案0", timing=timing)
    ids = record(database, run, answers)
    grades = []
    for number, (answer, one) in enumerate(zip(ids, answers, strict=True)):
        judged = graded(run, Layer.JUDGE, "canaryjudge", one.place.case, verdict)
        judged = judged._replace(rationale=f"canaryrationale {verdict}", entropy=0.5)
        grades.append((answer, judged))
        band = graded(run, Layer.AUTO, "auto", one.place.case, verdict if number % 2 else None,
                      None if number % 2 else "needs_review")  # fmt: skip
        grades.append((answer, band._replace(evidence={"ratio": speed, "flags": ["canaryflag"]})))
    add_grades(database, run, grades)
    add_people(database, ann="reviewer", bob="reviewer", lee="lead")
    plan = CampaignPlan(("ann", "bob"), overlap=2, practice=1, attention=0.2)
    made = make_campaign(database, run.id, plan, "lee", folder)
    assert made.held == 1
    [overview] = campaign_overviews(database)
    for one in overview.held:
        holding.decide(database, one.held.answer_id, "masked", "lee", None)


@contextmanager
def canary_server(folder: Path, verdict: str, speed: float) -> Iterator[Site]:
    folder.mkdir()
    with open_database(f"sqlite:///{folder}/evalbot.db") as database:
        fill(database, folder, verdict, speed)
        with served_by_command(database, folder) as running:
            yield running


def review_everything(browser: Browser, running: Site, received: Received) -> None:
    """From signing in to the end: every key, looking back, undo, drafts, help, a reload."""
    page = browser.new_context().new_page()
    received.watch(page)
    page.context.add_cookies([running.cookie("ann")])  # type: ignore[list-item]
    page.goto(f"{running.url}/")
    wait_for_item(page, -1)
    for number in range(-1, COUNT):
        wait_for_item(page, number)
        received.keep_storage(page)
        answers = page.locator("article.answer").count()
        for place in range(answers):
            page.keyboard.press("?x123"[place % 4 + 1])
            wait_until_saved(page)
        if number == -1:
            page.keyboard.press("Enter")
        if number == 1:
            page.keyboard.press("u")
            wait_for_item(page, 1)
            page.keyboard.press("c")
            with page.expect_response(lambda response: "predict" in response.url):
                page.keyboard.type("a word")
            page.keyboard.press("Escape")
            page.reload()
            wait_for_item(page, 1)
            page.keyboard.press("?")
            page.keyboard.press("1")
            wait_until_saved(page)
    page.wait_for_selector(".calm")
    page.get_by_role("button", name="Look at what you graded").click()
    wait_for_item(page, COUNT - 1)
    received.keep_storage(page)
    page.context.close()


def test_a_whole_review_holds_no_canary(tmp_path: Path, browser: Browser) -> None:
    received = Received()
    with canary_server(tmp_path / "site", "wrong", 4321.98) as running:
        review_everything(browser, running, received)
    assert sum("run/predict" in name for name in received.bodies) > 20
    assert any(name.endswith("/review/") for name in received.bodies)
    assert received.holding(SECRETS) == {}
    assert [url for url in received.urls if not url.startswith((running.url, "data:"))] == []
    # The judge's word is a word of the rubric too: it may stand there, and nowhere else.
    together = "\n".join(received.bodies.values())
    assert "canary" not in together
    assert "needs_review" not in together


def test_the_config_of_the_reviewers_app_knows_nothing(tmp_path: Path, browser: Browser) -> None:
    received = Received()
    with canary_server(tmp_path / "site", "wrong", 4321.98) as running:
        context = browser.new_context()
        context.add_cookies([running.cookie("ann")])  # type: ignore[list-item]
        page = context.new_page()
        received.watch(page)
        page.goto(f"{running.url}/review/config")
        config = json.loads(page.inner_text("body"))
    assert received.holding([*SECRETS, "canary", "答案1", "small-2026"]) == {}
    # Reviewing and its drafts, the chat that a lead may open, its stop and prompt, and opening all.
    assert len([one for one in config["dependencies"] if one["backend_fn"]]) == 7
    assert {one["api_visibility"] for one in config["dependencies"]} == {"private"}


IDS = re.compile(
    r"(?<=data-id=')[\w-]{16}|(?<=data-fresh=')[\w-]{16}|(?<=&#34;: &#34;)[\w-]{16}(?=&#34;)"
    r"|\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?=:-?\d)|(?<=&#34;campaign&#34;: &#34;)[0-9a-f]{8}"
)
TIMES = re.compile(
    r'"(?:date|content-length|set-cookie)": "[^"]*"'
    r'|"(?:average_)?duration":\s?[\d.e-]+| · about [^<]* left at today\'s pace'
    r"|\"session_hash\":\"\w+\"|evalbot_session_\d+|127\.0\.0\.1:\d+|\"app_id\":\d+"
)


def without_ids_and_times(received: Received) -> list[str]:
    # Sorted: what a page asks for at the same moment may come in any order.
    return sorted(
        TIMES.sub("[time]", IDS.sub("[id]", f"{name[5:]}\n{body}"))
        for name, body in received.bodies.items()
        if name[0].isdigit() and "/assets/" not in name
    )


def test_verdicts_bands_and_speeds_change_no_byte(tmp_path: Path, browser: Browser) -> None:
    both = []
    for name, verdict, speed in (("one", "wrong", 4321.98), ("other", "correct", 8765.43)):
        received = Received()
        with canary_server(tmp_path / name, verdict, speed) as running:
            review_everything(browser, running, received)
        both.append(without_ids_and_times(received))
    first, second = both
    assert len(first) == len(second) > 25
    for one, other in zip(first, second, strict=True):
        assert one == other
