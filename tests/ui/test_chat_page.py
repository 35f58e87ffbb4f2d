"""The leads' chat page in a real browser, over servers that do as they are told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from evalbot.chatting.opening import offered_chats
from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.chats import ChatTurn
from evalbot.formats.suites import read_suite
from evalbot.store import chats
from evalbot.store.database import Database, open_database
from tests.fault_server import DONE, FaultServer, Step, answer, chunk, failing, stream, usage
from tests.running.site import Site as Project
from tests.ui.chatting import ChatPage
from tests.ui.serving import Sent, Site, add_people, served
from tests.waiting import wait_until

HANGING = stream(chunk("so far"), Step.HANG)
GATED = stream(
    chunk("slow"), Step.GATE, chunk(" but sure"), chunk(finish="stop"), usage(3, 4), DONE
)
HOSTILE = (
    "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    "\n![alt](https://elsewhere.example/a.png) [link](https://elsewhere.example) "
    "<a href='https://elsewhere.example'>b</a> \u202eright to left\u202c \u200bhidden"
)


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
def sent() -> Sent:
    return Sent()


@pytest.fixture
def site(
    database: Database, tmp_path: Path, a: FaultServer, b: FaultServer, sent: Sent
) -> Iterator[Site]:
    project = Project(tmp_path)
    project.endpoint("alpha-7b", a.base_url)
    project.endpoint("beta-9b", b.base_url)
    add_people(database, ann="reviewer", lee="lead", kim="lead")
    with served(database, tmp_path, sent) as running:
        yield running


@pytest.fixture
def chat(site: Site, browser: Browser) -> Iterator[ChatPage]:
    page = ChatPage(site, browser)
    yield page
    page.close()


def on_record(database: Database, owner: str = "lee") -> ChatTurn:
    """The last turn of this person's newest chat."""
    with database.read() as connection:
        line = chats.list_chats(connection, owner, 1)[0]
        return chats.read_transcript(connection, line.chat.id).turns[-1]


def test_answers_stream_side_by_side_with_their_speed_below(chat: ChatPage, b: FaultServer) -> None:
    b.on("Hello", GATED)
    chat.choose("alpha-7b", "beta-9b")
    chat.ask("Hello")
    expect(chat.live).to_contain_text("slow")
    expect(chat.live).to_contain_text("answer to Hello")
    expect(chat.page.locator("#chat-prompt textarea")).to_have_value("")
    b.open_gate()
    turn = chat.wait_until_answered()
    second = turn.locator("article").nth(1)
    expect(second).to_contain_text("beta-9b")
    expect(second).to_contain_text("slow but sure")
    expect(second).to_contain_text("4 tokens")
    expect(chat.live).to_be_hidden()


def test_a_chat_goes_on_and_is_found_again_later(
    chat: ChatPage, site: Site, browser: Browser, a: FaultServer
) -> None:
    chat.choose("alpha-7b")
    chat.ask("Hello")
    chat.wait_until_answered()
    chat.close()
    again = ChatPage(site, browser)
    again.said.get_by_text("Earlier chats (1)").click()
    again.said.get_by_role("button", name="Hello").click()
    expect(again.said).to_contain_text("answer to Hello")
    again.ask("And then?")
    again.wait_until_answered(2)
    roles = [turn["role"] for turn in a.chats[-1].body["messages"]]
    assert roles == ["user", "assistant", "user"]
    again.said.get_by_role("button", name="New chat").click()
    expect(again.page.locator("#chat-endpoints")).to_be_visible()
    again.close()


def test_one_endpoint_is_stopped_while_the_other_goes_on(
    chat: ChatPage, database: Database, a: FaultServer, b: FaultServer
) -> None:
    a.on("Hello", HANGING)
    b.on("Hello", GATED)
    chat.choose("alpha-7b", "beta-9b")
    chat.ask("Hello")
    expect(chat.live).to_contain_text("so far")
    expect(chat.live).to_contain_text("slow")
    chat.page.get_by_role("button", name="Stop alpha-7b").click()
    expect(chat.live).to_contain_text("stopped")
    b.open_gate()
    chat.wait_until_answered()
    turn = on_record(database)
    assert turn.answers["alpha-7b"].answer.status is S.CANCELLED
    assert turn.answers["beta-9b"].answer.text == "slow but sure"


def test_leaving_the_page_cancels_and_keeps_what_was_said(
    chat: ChatPage, database: Database, a: FaultServer
) -> None:
    a.on("Hello", HANGING)
    chat.choose("alpha-7b", "beta-9b")
    chat.ask("Hello")
    expect(chat.live).to_contain_text("so far")
    expect(chat.live).to_contain_text("answer to Hello")
    chat.close()
    wait_until(lambda: a.aborted)
    wait_until(lambda: len(on_record(database).answers) == 2)
    turn = on_record(database)
    assert turn.answers["alpha-7b"].answer.text == "so far"
    assert turn.answers["beta-9b"].answer.status is S.OK


def test_a_server_that_ends_keeps_what_was_said(
    database: Database, tmp_path: Path, browser: Browser, a: FaultServer
) -> None:
    a.on("Hello", HANGING)
    Project(tmp_path).endpoint("alpha-7b", a.base_url)
    add_people(database, lee="lead")
    with served(database, tmp_path) as site:
        chat = ChatPage(site, browser)
        chat.choose("alpha-7b")
        chat.ask("Hello")
        expect(chat.live).to_contain_text("so far")
    said = on_record(database).answers["alpha-7b"].answer
    assert (said.status, said.text) == (S.CANCELLED, "so far")
    chat.close()


def test_a_long_stream_holds_up_nobody_else(
    chat: ChatPage, site: Site, browser: Browser, a: FaultServer
) -> None:
    a.on("Hello", HANGING)
    chat.choose("alpha-7b")
    chat.ask("Hello")
    expect(chat.live).to_contain_text("so far")
    other = ChatPage(site, browser, "kim")
    other.choose("alpha-7b", "beta-9b")
    other.ask("Quick")
    turn = other.wait_until_answered()
    turn.get_by_role("button", name="A is best").click()
    expect(turn).to_contain_text("You voted")
    expect(chat.live).to_contain_text("so far")
    other.close()


def test_what_a_model_says_is_text_and_loads_nothing(chat: ChatPage, a: FaultServer) -> None:
    a.on("Hello", stream(chunk(HOSTILE, reasoning=HOSTILE), Step.GATE, chunk(finish="stop")))
    chat.choose("alpha-7b")
    chat.ask("Hello")
    expect(chat.live).to_contain_text("<img src=x")
    a.open_gate()
    turn = chat.wait_until_answered()
    expect(turn).to_contain_text("<script>document.title = 'taken'</script><img src=x")
    expect(turn).to_contain_text("![alt](https://elsewhere.example/a.png)")
    expect(turn).to_contain_text("⟦U+202E⟧right to left⟦U+202C⟧ ⟦U+200B⟧hidden")
    assert turn.locator("script, img, a").count() == 0
    assert chat.page.title() == "evalbot"
    assert not [url for url in chat.requested if "elsewhere" in url or url.endswith("/x")]


def test_a_blind_turn_tells_nothing_before_the_vote(
    chat: ChatPage, sent: Sent, database: Database, a: FaultServer, b: FaultServer
) -> None:
    a.on("Hello", answer("said by one"))
    b.on("Hello", GATED)
    chat.choose("alpha-7b", "beta-9b", blind=True)
    sent.forget()
    chat.ask("Hello")
    expect(chat.live).to_have_text("2 models are answering …")
    wait_until(lambda: "alpha-7b" in on_record(database).answers)
    b.open_gate()
    turn = chat.wait_until_answered()
    expect(turn).to_contain_text("said by one")
    expect(turn).to_contain_text("slow but sure")
    before = sent.text()
    assert before.index("said by one") > before.rindex("models are answering")
    for told in ("alpha", "beta", "qwen", "gemma", "tokens"):
        assert told not in before
    turn.get_by_role("button", name="A is best").click()
    expect(turn.locator("article").first).to_contain_text(on_record(database).order[0])
    assert "tokens/s" in sent.text()
    [vote] = on_record(database).votes
    assert (vote.choice, vote.is_blind) == (on_record(database).order[0], True)


def test_each_answer_of_a_blind_turn_may_be_graded(
    chat: ChatPage, database: Database, a: FaultServer, b: FaultServer
) -> None:
    a.on("Hello", answer("said by one"))
    b.on("Hello", answer("said by the other"))
    chat.choose("alpha-7b", "beta-9b", blind=True)
    chat.ask("Hello")
    turn = chat.wait_until_answered()
    turn.get_by_text("Or grade each answer").click()
    rows = turn.locator(".chat-grade form .row")
    rows.nth(0).get_by_label("fair").check()
    rows.nth(1).get_by_label("good").check()
    turn.get_by_role("button", name="Save these grades").click()
    expect(turn).to_contain_text("You voted: A fair, B good")
    first, second = on_record(database).order
    assert on_record(database).votes[0].grades == {first: "fair", second: "good"}


def test_a_blind_failure_is_no_answer_until_the_names_are_told(
    site: Site, browser: Browser, tmp_path: Path, sent: Sent, b: FaultServer
) -> None:
    b.on("Hello", failing(500, "beta-9b has no memory left"))
    with FaultServer() as c:
        project = Project(tmp_path)
        for name, url in (("alpha-7b", site), ("beta-9b", b.base_url), ("gamma-1b", c.base_url)):
            project.endpoint(name, c.base_url if url is site else str(url))
        chat = ChatPage(site, browser)
        chat.choose("alpha-7b", "beta-9b", "gamma-1b", blind=True)
        sent.forget()
        chat.ask("Hello")
        turn = chat.wait_until_answered()
        expect(turn).to_contain_text("no answer")
        assert "memory" not in sent.text()
        turn.get_by_role("button", name="Alike").click()
        expect(turn).to_contain_text("beta-9b has no memory left")
        chat.close()


def test_a_turn_becomes_a_case(chat: ChatPage, tmp_path: Path) -> None:
    chat.choose("alpha-7b", "beta-9b")
    chat.ask("What is new?")
    turn = chat.wait_until_answered()
    turn.get_by_role("button", name="A is best").click()
    expect(turn).to_contain_text("You voted")

    def fill(key: str) -> None:
        turn.get_by_text("Make this a case").click()
        turn.get_by_label("Suite").select_option("s")
        turn.get_by_label("Key").fill(key)
        turn.get_by_label("Another reference").first.fill("nothing")
        turn.get_by_role("button", name="Add the case").click()

    fill("c0")
    expect(chat.page.get_by_role("alert")).to_contain_text("each key once")
    turn.get_by_text("Make this a case").click()
    fill("news")
    expect(chat.said.get_by_role("status")).to_contain_text("news")
    expect(chat.page.get_by_role("alert")).to_have_count(0)
    case = read_suite(tmp_path / "datasets/s").cases[-1]
    assert (case.key, case.prompt) == ("news", "What is new?")
    assert case.references == ("answer to What is new?", "nothing")


def test_a_prompt_that_is_refused_stays_as_typed(chat: ChatPage, site: Site) -> None:
    chat.choose("alpha-7b", blind=True)
    chat.ask("Hello")
    expect(chat.page.get_by_text("a blind chat needs two endpoints")).to_be_visible()
    assert chat.page.locator("#chat-prompt textarea").input_value() == "Hello"


def test_a_blind_chat_is_opened_to_reviewers_and_closed(chat: ChatPage, database: Database) -> None:
    chat.choose("alpha-7b", "beta-9b", blind=True)
    chat.ask("Hello")
    chat.wait_until_answered()
    chat.said.get_by_role("button", name="Open it to reviewers").click()
    chat.said.get_by_role("button", name="Close it to reviewers").wait_for()
    assert len(offered_chats(database)) == 1
    chat.said.get_by_role("button", name="Reviewers' votes").click()
    expect(chat.said.get_by_role("table")).to_contain_text("all bad")
    chat.said.get_by_role("button", name="Close it to reviewers").click()
    chat.said.get_by_role("button", name="Open it to reviewers").wait_for()
    assert offered_chats(database) == []
