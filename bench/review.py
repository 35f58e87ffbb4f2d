"""Reviewing with 100,000 stored answers: from a key to the next item in a real browser, alone,
beside 19 others and beside a chat; submits on the server; and 10,000 of them with bad luck.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import text

from bench.served import PASSWORD, Served, open_page, serve
from bench.site import instant_server, write_site
from evalbot.domain.answers import Answer, AnswerStatus, Place
from evalbot.domain.people import Role, User
from evalbot.domain.reviewing import CampaignPlan
from evalbot.domain.runs import RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.grading.automatic import AutoGrader
from evalbot.reviewing.campaigns import make_campaign
from evalbot.reviewing.signing_in import sign_in
from evalbot.reviewing.users import hash_password
from evalbot.store import people, runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Database, open_database
from evalbot.store.grades import GradeWriter
from evalbot.store.texts import put_texts
from tests.ui.serving import CHROMIUM_FLAGS, chromium

MODELS, CASES, PEOPLE = 6, 16_667, 20
ITEMS, WARM = 60, 5
SUBMITS, AT_ONCE = 10_000, 8
PACE_S = 1.0
"""Each of the others grades once a second: faster than anybody reads."""

STREAM_GAP_S = 0.02
# From the key that ends an item until the next one stands in the document and was painted.
TIMED = """key => new Promise(done => {
  const item = () => document.querySelector('#panel-review .item')?.dataset.item;
  const before = item(), began = performance.now();
  const look = new MutationObserver(() => {
    if (item() === before) return;
    look.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  });
  look.observe(document.getElementById('panel-review'),
    {childList: true, subtree: true, attributes: true});
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
})"""


def measure(folder: Path) -> Iterator[str]:
    with instant_server(gap=STREAM_GAP_S, times=250) as address:
        write_site(folder, address, CASES, 1)
        endpoints = "".join(
            f"  - {{name: m{n}, base_url: '{address}/v1'}}\n" for n in range(MODELS)
        )
        (folder / "evalbot.yaml").write_text(f"endpoints:\n{endpoints}", "utf-8")
        with open_database("sqlite:///evalbot.db", folder) as database:
            began = time.perf_counter()
            _fill(database, folder)
            filled = time.perf_counter()
            plan = CampaignPlan(tuple(f"r{n:02}" for n in range(PEOPLE)))
            made = make_campaign(database, "bench-run", plan, "lee", folder)
            drawn = time.perf_counter() - filled
            yield (
                f"{made.answers} answers stored in {filled - began:.0f} s, drawn and dealt to "
                f"{PEOPLE} people in {drawn:.1f} s"
            )
            with serve(folder) as served, sync_playwright() as playwright:
                yield f"from the command to the page: {served.seconds:.1f} s (goal 6)"
                browser = playwright.chromium.launch(
                    executable_path=chromium(), args=CHROMIUM_FLAGS
                )
                yield from _browse(browser, database, served)
                browser.close()
            with serve(folder) as served:
                yield from _bad_luck(database, served)


def _browse(browser: Browser, database: Database, served: Served) -> Iterator[str]:
    began = time.perf_counter()
    page = open_page(browser, database, served, "r00", "/review/")
    page.wait_for_selector("article.answer")
    yield f"first usable: {time.perf_counter() - began:.2f} s (goal 2)"
    yield f"key to next item, alone: {_of(_keys(page))} ms (goal 120)"
    with _others(database, served, PEOPLE - 1) as latencies:
        alone = _of(_keys(page))
    yield f"key to next item, {PEOPLE - 1} others: {alone} ms (goal 250)"
    yield f"their submits meanwhile: {_of(latencies)} ms"
    lead = open_page(browser, database, served, "lee", "/lead/")
    lead.get_by_role("tab", name="Chat").click()
    lead.get_by_label(f"m{MODELS - 1}").wait_for(state="attached")
    lead.wait_for_timeout(500)
    lead.locator("#chat-prompt textarea").fill("tell me more")
    lead.locator("#chat-prompt textarea").press("Enter")
    lead.wait_for_function("document.querySelector('#panel-chat-live').innerText.length > 400")
    beside = _of(_keys(page))
    running = lead.locator("#panel-chat-live").inner_text() != ""
    yield f"key to next item, beside a chat of {MODELS} streams: {beside} ms (goal 300)"
    yield f"the chat was {'still' if running else 'no longer'} running at the end"
    lead.close()
    one = _Protocol(database, served, "r01")
    submits = _of([one.grade() for _ in range(300)])
    yield f"submit on the server, one at a time: {submits} ms (goal 50)"


def _keys(page: Page) -> list[float]:
    """Milliseconds from the key that ends an item to the next one; six answers on the page."""
    times = []
    for number in range(ITEMS + WARM):
        page.wait_for_function("(sessionStorage.getItem('evalbot-unsent') ?? '[]') === '[]'")
        for _ in range(page.locator("article.answer[data-graded='']").count() - 1):
            page.keyboard.press("1")
        page.wait_for_function(
            "document.querySelectorAll(\"article.answer[data-graded='']\").length === 1 && "
            "(sessionStorage.getItem('evalbot-unsent') ?? '[]') === '[]'"
        )
        took = page.evaluate(TIMED, "2")
        if number >= WARM:
            times.append(took)
    return times


class _Protocol:
    """A reviewer without a browser: what its page would send, over one connection."""

    def __init__(self, database: Database, served: Served, name: str) -> None:
        self._served = served
        self._cookie = f"evalbot_session_{served.port}={sign_in(database, name, PASSWORD)}"
        self._connection: HTTPConnection | None = None
        self._open: list[str] = []
        self.said: set[str] = set()
        self.random = random.Random(name)

    def grade(self) -> float:
        """Grade the next answer; milliseconds until the page came back."""
        if not self._open:
            self.look()
        answer = self._open.pop(0)
        self.said.add(answer)
        began = time.perf_counter()
        self.send(self.action(answer))
        return 1000 * (time.perf_counter() - began)

    def look(self) -> None:
        """Load the item that is next."""
        page = self.send({"do": "show"})
        self._open = re.findall(r"data-id='([\w-]+)' data-fresh='[\w-]+' data-graded=''", page)
        if not self._open:
            raise AssertionError(f"nothing to grade: {page[:300]}")

    def next_answer(self) -> str:
        """The id of the next answer to be graded."""
        if not self._open:
            self.look()
        return self._open.pop(0)

    def action(self, answer: str) -> dict[str, Any]:
        """A grade with a token of its own."""
        token = f"{self.random.getrandbits(128):032x}"
        return {"do": "grade", "id": answer, "verdict": "correct", "comment": "", "ticked": [],
                "token": token}  # fmt: skip

    def send(self, action: dict[str, Any], *, hang_up: bool = False) -> str:
        """The page that comes back; hang_up: the connection is dropped before it can."""
        if self._connection is None:
            self._connection = HTTPConnection("127.0.0.1", self._served.port, timeout=60)
        body = json.dumps({"data": [action], "fn_index": 0, "session_hash": "bench"})
        headers = {"Content-Type": "application/json", "Cookie": self._cookie}
        self._connection.request("POST", "/review/gradio_api/run/predict", body, headers)
        if hang_up:
            self._connection.close()
            self._connection = None
            return ""
        reply = self._connection.getresponse()
        found = json.loads(reply.read())
        assert reply.status == 200, found
        page = found["data"][0]
        return page if isinstance(page, str) else page.get("value", "")


@contextmanager
def _others(database: Database, served: Served, count: int) -> Iterator[list[float]]:
    """So many people who grade once a second until the block ends; their waiting times."""
    latencies: list[float] = []
    stop = threading.Event()

    def work(one: _Protocol) -> None:
        stop.wait(one.random.random() * PACE_S)
        while not stop.is_set():
            took = one.grade()
            latencies.append(took)
            stop.wait(max(0.0, PACE_S - took / 1000))

    threads = [
        threading.Thread(target=work, args=(_Protocol(database, served, f"r{n + 1:02}"),))
        for n in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        yield latencies
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _bad_luck(database: Database, served: Served) -> Iterator[str]:
    """Submits with double sends, dropped connections and reloads: each grade once, none lost."""
    before = _count(database)
    wanted: list[int] = []
    began = time.perf_counter()

    def work(one: _Protocol) -> None:
        for _ in range(SUBMITS // AT_ONCE):
            action = one.action(one.next_answer())
            luck = one.random.random()
            if luck < 0.2:  # the connection drops, and the page sends again
                one.send(action, hang_up=True)
            one.send(action)
            if luck > 0.8:  # pressed twice
                one.send(action)
            if 0.4 < luck < 0.5:  # the page is loaded anew
                one.look()
        wanted.append(SUBMITS // AT_ONCE)

    threads = [
        threading.Thread(target=work, args=(_Protocol(database, served, f"r{n + 2:02}"),))
        for n in range(AT_ONCE)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    found = _count(database) - before
    yield (
        f"{sum(wanted)} grades said with double sends, drops and reloads, {AT_ONCE} at once: "
        f"{found} on record (lost or doubled: {found - sum(wanted)}), {seconds:.0f} s"
    )


def _count(database: Database) -> int:
    with database.read() as connection:
        query = text("SELECT count(*) FROM grades WHERE layer = 'human'")
        return int(connection.execute(query).scalar_one())


def _fill(database: Database, folder: Path) -> None:
    """A run of six models, their answers with automatic grades, and people."""
    suite = read_suite(find_suite("bench", folder))
    rubric = read_rubric(find_rubric("translation", folder))
    now = datetime.now(UTC)
    run = Run(
        id="bench-run",
        suite=suite,
        rubric=rubric,
        questions={one.key: suite.question_fingerprint(one) for one in suite.cases},
        state=RunState.FINISHED,
        repeats=1,
        started_at=now,
        endpoints=tuple(RunEndpoint(f"m{n}", {}, f"f{n}") for n in range(MODELS)),
    )
    grader = AutoGrader(suite, rubric)
    hashed = hash_password(PASSWORD)
    with database.write() as connection:
        runs.create_run(connection, run)
        put_texts(connection, "rubric_rule", [grader.rubric_text])
        put_texts(connection, "case_rule", grader.case_texts)
        for name in [*(f"r{n:02}" for n in range(PEOPLE)), "lee"]:
            role = Role.LEAD if name == "lee" else Role.REVIEWER
            people.add_user(connection, User(name, role, now), hashed)
        writer = GradeWriter(connection)
        for number, model in enumerate(run.endpoints):
            said = [
                RecordedAnswer(
                    Place(one.key, model.name),
                    1,
                    Answer(AnswerStatus.OK, f"会议在周五上午{number}点开始。", "", "", now),
                    run.questions[one.key],
                )
                for one in suite.cases
            ]
            ids = add_answers(connection, run.id, said)
            grades = [grader.grade(a.place.case, a.answer.status, a.answer.text) for a in said]
            writer.add(list(zip(ids, grades, strict=True)))


def _of(times: Sequence[float]) -> str:
    """Median and 95th percentile."""
    ordered = sorted(times)
    middle = ordered[len(ordered) // 2]
    high = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return f"{middle:.0f}, p95 {high:.0f}"
