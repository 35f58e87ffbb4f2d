"""A blind chat that a lead has opened, as a reviewer meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.chatting.opening import close_to_reviewers, count_votes, open_to_reviewers
from evalbot.domain.chats import Chat
from evalbot.store.database import Database, open_database
from tests.chatting.talking import LEE, Talk
from tests.fault_server import FaultServer, Step, answer, chunk, failing, stream
from tests.running.site import Site as Project
from tests.ui.reviewing import open_page
from tests.ui.serving import Sent, Site, add_people, served
from tests.waiting import wait_until

NAMES = ("alpha-7b", "beta-9b")
TELLING = (*NAMES, "qwen-test", "gemma-test", "tokens/s", "memory")


@pytest.fixture
def a() -> Iterator[FaultServer]:
    with FaultServer("qwen-test") as server:
        yield server


@pytest.fixture
def b() -> Iterator[FaultServer]:
    with FaultServer("gemma-test") as server:
        yield server


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, a: FaultServer, b: FaultServer) -> Project:
    project = Project(tmp_path)
    for name, server in zip(NAMES, (a, b), strict=True):
        project.endpoint(name, server.base_url)
    return project


@pytest.fixture
def opened(project: Project, database: Database) -> Chat:
    chat = Talk(project, database).start(*NAMES, blind=True)
    open_to_reviewers(database, LEE, chat.id)
    return chat


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def site(project: Project, database: Database, sent: Sent) -> Iterator[Site]:
    add_people(database, ann="reviewer", lee="lead")
    with served(database, project.folder, sent) as running:
        yield running


def begin(page: Page) -> None:
    page.get_by_text("Blind chat").click()
    page.get_by_role("button", name="Begin").click()
    page.locator("#panel-review-chat [data-chat]").wait_for()


def ask(page: Page, prompt: str) -> None:
    box = page.locator("#review-chat-prompt textarea")
    box.fill(prompt)
    box.press("Enter")


def test_a_reviewer_asks_and_votes_and_is_never_told_the_names(
    site: Site,
    sent: Sent,
    browser: Browser,
    database: Database,
    opened: Chat,
    a: FaultServer,
    b: FaultServer,
) -> None:
    a.on("Hello", stream(chunk("said by one"), Step.GATE, chunk(finish="stop")))
    b.on("Hello", answer("said by two"))
    page = open_page(browser, site, "ann")
    begin(page)
    ask(page, "Hello")
    live = page.locator("#panel-review-chat-live")
    expect(live).to_have_text("2 models are answering …")
    a.open_gate()
    turn = page.locator(".chat-turn")
    expect(turn).to_contain_text("said by one")
    expect(turn).to_contain_text("said by two")
    turn.get_by_role("button", name="A is best").click()
    expect(turn).to_contain_text("You voted: A is best.")
    ask(page, "And now?")
    expect(page.locator(".chat-turn").nth(1)).to_contain_text("answer to And now?")
    assert sum(count_votes(database, LEE, opened.id).values()) == 1
    received = sent.text()
    assert "said by one" in received
    assert [word for word in TELLING if word in received] == []
    page.context.close()


def test_failures_and_broken_configs_tell_no_names_either(
    site: Site,
    sent: Sent,
    browser: Browser,
    opened: Chat,
    project: Project,
    a: FaultServer,
    b: FaultServer,
) -> None:
    b.on("Hello", failing(500, "beta-9b has no memory left"))
    page = open_page(browser, site, "ann")
    begin(page)
    ask(page, "Hello")
    turn = page.locator(".chat-turn")
    expect(turn).to_contain_text("no answer")
    expect(turn).to_contain_text("not two answers to choose from")
    project.endpoint("alpha-7b", "no address")
    ask(page, "Again")
    expect(page.get_by_text("please tell a lead")).to_be_visible()
    assert [word for word in TELLING if word in sent.text()] == []
    page.context.close()


def test_a_stopped_turn_shows_nothing_that_tells_who_was_slow(
    site: Site, browser: Browser, opened: Chat, a: FaultServer
) -> None:
    a.on("Hello", stream(chunk("so far"), Step.HANG))
    page = open_page(browser, site, "ann")
    begin(page)
    ask(page, "Hello")
    page.get_by_role("button", name="Stop").click()
    turn = page.locator(".chat-turn")
    expect(turn).to_contain_text("This turn was stopped")
    expect(turn).not_to_contain_text("so far")
    wait_until(lambda: a.aborted)
    page.context.close()


def test_a_chat_that_was_closed_meanwhile_says_so(
    site: Site, browser: Browser, database: Database, opened: Chat
) -> None:
    page = open_page(browser, site, "ann")
    begin(page)
    close_to_reviewers(database, LEE, opened.id)
    ask(page, "Hello")
    expect(page.get_by_text("this chat is closed now")).to_be_visible()
    page.get_by_role("button", name="New chat").click()
    expect(page.locator("#panel-review-chat")).to_contain_text("No chat is open now")
    expect(page.locator("#review-chat-prompt")).to_be_hidden()
    page.context.close()


def test_the_page_speaks_the_reviewers_language(site: Site, browser: Browser, opened: Chat) -> None:
    page = open_page(browser, site, "ann", locale="ja")
    page.get_by_text("ブラインドチャット").click()
    page.get_by_role("button", name="始める").click()
    expect(page.get_by_label("プロンプト")).to_be_visible()
    ask(page, "こんにちは")
    expect(page.locator(".chat-turn")).to_contain_text("最も良い回答は？")
    page.context.close()


def test_nothing_is_seen_while_no_chat_is_open(site: Site, browser: Browser) -> None:
    page = open_page(browser, site, "ann")
    page.locator("#act-review-chat").wait_for(state="attached")
    expect(page.locator("#review-chat-prompt")).to_be_hidden()
    expect(page.get_by_text("Blind chat")).to_have_count(0)
    page.context.close()
