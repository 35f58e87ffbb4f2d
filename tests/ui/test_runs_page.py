"""The leads' Runs page in a real browser: started, watched, stopped, taken up, asked again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.store.database import Database
from tests.fault_server import FaultServer, Step, answer, failing
from tests.running.site import Site as Project
from tests.ui.reviewing import open_page
from tests.ui.serving import Site, add_people, served

HOSTILE = (
    "<script>window.bad = 1</script> <img src=x onerror='window.bad = 1'> "
    "![i](http://127.0.0.1:1/x.png) \u202etxt.exe"
)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: FaultServer) -> Project:
    project = Project(tmp_path)
    project.endpoint("qwen", server.base_url, timeout_s=60)
    return project


@pytest.fixture
def database(project: Project) -> Iterator[Database]:
    with project.open() as opened:
        yield opened


@pytest.fixture
def site(database: Database, project: Project) -> Iterator[Site]:
    add_people(database, lee="lead", ann="reviewer")
    with served(database, project.folder) as running:
        yield running


@pytest.fixture
def page(site: Site, browser: Browser) -> Page:
    page = open_page(browser, site, "lee", "/lead/")
    page.get_by_text("Start a run").wait_for()
    return page


def start(page: Page) -> None:
    page.get_by_text("Start a run").click()
    page.get_by_label("s", exact=True).check()
    page.get_by_label("Label").fill("from the page")
    page.get_by_role("button", name="Start", exact=True).click()


def line(page: Page) -> str:
    return page.locator("ul.runs > li").first.inner_text()


def newest_run(project: Project) -> str:
    [(run,)] = project.query("SELECT id FROM runs ORDER BY started_at DESC LIMIT 1")
    return str(run)


def test_a_run_is_started_watched_stopped_and_resumed(
    page: Page, project: Project, server: FaultServer
) -> None:
    server.on("p3", answer("x", before=(Step.HANG,)), answer("answer to ", "p3"))
    start(page)
    expect(page.locator("#panel-runs-live")).to_contain_text("3 / 4")
    expect(page.locator("#panel-runs-live [role=progressbar]")).to_have_attribute(
        "aria-valuenow", "3"
    )
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("ul.runs .state")).to_have_text("stopped")
    expect(page.locator("#panel-runs-live [role=progressbar]")).to_have_count(0)
    run = newest_run(project)
    assert project.run(run).state is RunState.STOPPED
    assert project.run(run).label == "from the page"
    assert project.statuses(run) == {S.OK: 3, S.CANCELLED: 1}
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("ul.runs .state")).to_have_text("finished")
    assert project.statuses(run) == {S.OK: 4}
    project.check_record(run)


def test_failures_are_told_in_the_servers_words_and_asked_again(
    page: Page, project: Project, server: FaultServer
) -> None:
    server.on("p1", failing(500, HOSTILE), answer("answer to ", "p1"))
    server.on("p2", failing(500, HOSTILE), answer("answer to ", "p2"))
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    start(page)
    expect(page.locator("ul.runs .state")).to_have_text("finished")
    page.locator("ul.runs button").first.click()
    kind = page.locator("#panel-run .kind")
    expect(kind).to_contain_text("2 ×")
    expect(kind).to_contain_text("<script>window.bad = 1</script> <img src=x")
    expect(kind).to_contain_text("![i](http://127.0.0.1:1/x.png) ⟦U+202E⟧txt.exe")
    expect(kind).to_contain_text("cases: c1, c2")
    assert page.evaluate("window.bad") is None
    assert page.locator("#panel-run img").count() == 0
    assert not [url for url in loaded if "127.0.0.1:1/" in url or url.endswith("/x")]
    page.get_by_role("button", name="Ask again what failed (2)").click()
    expect(page.locator("#panel-run h3")).to_have_text("4 of 4 answers ok")
    assert project.statuses(newest_run(project)) == {S.OK: 4}


def test_a_run_of_another_process_is_seen_to_move(
    page: Page, project: Project, server: FaultServer, database: Database
) -> None:
    server.on("p3", answer("answer to ", "p3", before=(Step.GATE,)))
    prepared = project.new(label="by command")
    runner = project.runner(database, prepared)
    working = threading.Thread(target=lambda: asyncio.run(runner.execute()))
    working.start()
    try:
        expect(page.locator("#panel-runs-live")).to_contain_text("running in another process")
        expect(page.locator("#panel-runs-live")).to_contain_text("3 / 4")
        expect(page.locator("ul.runs .state")).to_have_text("running")
        assert page.get_by_role("button", name="Stop").count() == 0
    finally:
        server.open_gate()
        working.join()
    expect(page.locator("ul.runs .state")).to_have_text("finished")
    assert "4 answers" in line(page)


def test_what_cannot_be_done_is_told_in_a_sentence(page: Page, project: Project) -> None:
    page.get_by_text("Start a run").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("choose a suite to run")
    project.endpoint("qwen", "http://127.0.0.1:1/v1", start=["./serve", "it now"])
    page.get_by_label("s", exact=True).check()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("./serve 'it now'")
    expect(page.get_by_role("alert")).to_contain_text("evalbot run SUITE --endpoints qwen")
    page.get_by_role("alert").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert project.query("SELECT count(*) FROM runs") == [(0,)]


def test_nothing_is_asked_of_the_server_while_another_tab_is_read(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("tab", name="Campaigns").click()
    page.wait_for_timeout(2_500)
    asked.clear()
    page.wait_for_timeout(3_500)
    assert [url for url in asked if "/run/" in url] == []
    page.get_by_role("tab", name="Runs").click()
    expect(page.locator("#panel-runs")).to_be_visible()


def test_the_server_stops_its_runs_when_it_ends(
    project: Project, server: FaultServer, database: Database, browser: Browser
) -> None:
    server.on("p3", answer("x", before=(Step.HANG,)), answer("answer to ", "p3"))
    add_people(database, lee="lead")
    with served(database, project.folder) as site:
        page = open_page(browser, site, "lee", "/lead/")
        start(page)
        expect(page.locator("#panel-runs-live")).to_contain_text("3 / 4")
        page.context.close()
    run = newest_run(project)
    assert project.run(run).state is RunState.STOPPED
    assert project.statuses(run) == {S.OK: 3, S.CANCELLED: 1}


def test_reviewers_cannot_call_the_pages_events(site: Site, project: Project) -> None:
    with site.client("ann") as client:
        assert client.get("/lead/config").status_code == 403
        for number in range(12):
            body = {"fn_index": number, "data": [{"do": "start", "suites": "s"}]}
            reply = client.post(f"/lead/gradio_api/run/{number}", json=body)
            assert reply.status_code == 403
    assert project.query("SELECT count(*) FROM runs") == [(0,)]
