"""The sign-in page in a real browser: in by name, out again, and the one-time address."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx
import pytest
from playwright.sync_api import Browser, expect

from evalbot.errors import BusyError
from evalbot.reviewing.users import disable_user
from evalbot.store.database import Database, open_database
from tests.ui.serving import PASSWORD, Site, add_people, served


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as opened:
        yield opened


@pytest.fixture
def site(database: Database, tmp_path: Path) -> Iterator[Site]:
    add_people(database, ann="reviewer", lee="lead")
    with served(database, tmp_path) as running:
        yield running


@pytest.mark.parametrize(("name", "path"), [("ann", "/review/"), ("lee", "/lead/")])
def test_each_role_comes_to_its_own_pages(
    site: Site, browser: Browser, name: str, path: str
) -> None:
    page = browser.new_page()
    page.goto(site.url)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}{path}")


def test_a_wrong_password_is_told_and_the_name_kept(site: Site, browser: Browser) -> None:
    page = browser.new_page(locale="ja")
    page.goto(f"{site.url}/review/")
    page.get_by_label("ユーザー名").fill("ann")
    page.get_by_label("パスワード").fill("not the right one")
    page.get_by_role("button", name="サインイン").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.get_by_label("ユーザー名").input_value() == "ann"


def test_a_disabled_user_is_out_at_once(site: Site, browser: Browser) -> None:
    context = browser.new_context()
    context.add_cookies([site.cookie("ann")])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(f"{site.url}/review/")
    disable_user(site.database, "ann")
    page.reload()
    page.wait_for_url(f"{site.url}/sign-in")


def test_without_users_the_printed_address_opens_once(
    database: Database, tmp_path: Path, browser: Browser
) -> None:
    with served(database, tmp_path) as site:
        assert site.server is not None
        token = site.server.identity.owner_token
        first, second = browser.new_page(), browser.new_context().new_page()
        first.goto(f"{site.url}/?token={token}")
        first.wait_for_url(f"{site.url}/lead/")
        second.goto(f"{site.url}/?token={token}")
        second.wait_for_url(f"{site.url}/sign-in")
        expect(second.locator("main")).to_contain_text("once")
        add_people(database, lee="lead")
        first.reload()
        first.wait_for_url(f"{site.url}/sign-in")


def test_many_who_sign_in_at_once_hold_up_nobody(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()
    cookie = site.cookie("ann")

    def slow(*_: object) -> str:
        go_on.wait(60)
        return "a session"

    def enter(_: int) -> int:
        sent = {"name": "ann", "password": PASSWORD}
        return httpx.post(f"{site.url}/sign-in", data=sent, timeout=60).status_code

    monkeypatch.setattr("evalbot.ui.signing_in.sign_in", slow)
    with ThreadPoolExecutor(60) as threads:
        entering = [threads.submit(enter, n) for n in range(60)]
        try:
            response = httpx.get(
                f"{site.url}/review/config", cookies={cookie["name"]: cookie["value"]}, timeout=60
            )
        finally:
            go_on.set()
        assert response.status_code == 200
        assert {one.result() for one in entering} == {303}


def test_a_record_that_cannot_be_read_is_no_wrong_password(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> str:
        raise BusyError("database sqlite:////secret/place.db: locked")

    monkeypatch.setattr("evalbot.ui.signing_in.sign_in", busy)
    with site.client() as asking:
        response = asking.post("/sign-in", data={"name": "ann", "password": "x"})
    assert response.status_code == 503
    assert "try again in a while" in response.text
    assert "secret" not in response.text


@pytest.mark.parametrize("name", ["ann\x00", "\ufffd", "x" * 100_000, ""])
def test_odd_names_are_just_wrong(site: Site, name: str) -> None:
    with site.client() as asking:
        response = asking.post("/sign-in", data={"name": name, "password": "x\x00"})
    assert response.status_code == 401


@pytest.mark.parametrize("is_told", [True, False])
def test_more_than_a_page_sends_is_refused(site: Site, is_told: bool) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="x"; filename="f"\r\n\r\n'
    body = head + b"x" * 9_000_000 + b"\r\n--b--\r\n"
    headers = {"content-type": "multipart/form-data; boundary=b"}
    content = body if is_told else (body[at : at + 100_000] for at in range(0, len(body), 100_000))
    with site.client() as asking:
        response = asking.post("/sign-in", content=content, headers=headers)
    assert response.status_code == 413
