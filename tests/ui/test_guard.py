"""Every route and every event, called by those who may not: refused on the server."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import gradio as gr
import httpx
import pytest
from starlette.routing import BaseRoute

from evalbot.reviewing.users import disable_user
from evalbot.store.database import open_database
from evalbot.ui.guard import NEEDED
from tests.people import PASSWORD
from tests.reviewing.site import ReviewSite, review_site
from tests.ui.serving import Site, served

Served = tuple[ReviewSite, Site]
APPS = ("/review", "/lead")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all these tests: none of them changes anything."""
    folder = tmp_path_factory.mktemp("guard")
    with open_database(f"sqlite:///{folder}/evalbot.db") as database:
        site = review_site(database, folder, 3)
        site.campaign("ann")
        site.campaign("bob")
        with served(database, folder) as running:
            yield site, running


def routes_of(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of every route, also of routers within."""
    for route in routes:
        inner = getattr(route, "original_router", None) or getattr(route, "app", None)
        path = prefix + getattr(route, "path", "")
        if getattr(inner, "routes", None) is not None and not getattr(route, "methods", None):
            yield from routes_of(inner.routes, path)
        for method in getattr(route, "methods", None) or ():
            yield method, path


def mounted(running: Site, app: str) -> Any:
    assert running.server is not None
    inner = running.server.app._app  # type: ignore[attr-defined]
    return next(route.app for route in inner.routes if getattr(route, "path", "") == app)


def all_routes(running: Site) -> list[tuple[str, str]]:
    found = []
    for app in APPS:
        for method, path in routes_of(mounted(running, app).routes):
            if not path.startswith("/gradio_api") and path not in ("", "/"):
                found.append((method, f"{app}/gradio_api{path}"))
            found.append((method, app + path))
    return sorted({(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in found})


def ask(asking: httpx.Client, method: str, path: str, **options: Any) -> httpx.Response:
    return asking.request(method, path, follow_redirects=False, **options)


def test_there_is_something_to_refuse(both: Served) -> None:
    paths = {path for _, path in all_routes(both[1])}
    assert len(paths) > 80
    for known in ("/gradio_api/upload", "/gradio_api/vibe-edit/", "/gradio_api/file=x",
                  "/gradio_api/queue/join", "/monitoring", "/login"):  # fmt: skip
        assert f"/review{known}" in paths


def test_signed_out_nothing_is_answered(both: Served) -> None:
    _, running = both
    with running.client() as asking:
        for method, path in all_routes(running):
            assert ask(asking, method, path).status_code == 401, (method, path)
        for app in APPS:
            home = ask(asking, "GET", f"{app}/", headers={"Accept": "text/html"})
            assert (home.status_code, home.headers["location"]) == (303, "/sign-in")


def test_a_reviewer_gets_nothing_of_the_leads_app(both: Served) -> None:
    _, running = both
    with running.client("ann") as asking:
        for method, path in all_routes(running):
            if path.startswith("/lead"):
                assert ask(asking, method, path).status_code == 403, (method, path)
        for path in ("/lead/download/rates", "/lead/config", "/lead/assets/x.js"):
            assert ask(asking, "GET", path).status_code == 403


def test_routes_that_no_page_needs_are_not_there_for_anybody(both: Served) -> None:
    _, running = both
    kept = set()
    for name, app in (("ann", "/review"), ("lee", "/lead")):
        with running.client(name) as asking:
            for method, path in all_routes(running):
                if not path.startswith(app):
                    continue
                inner = path.removeprefix(app)
                if NEEDED.fullmatch(f"{method} {inner}"):
                    kept.add(f"{method} {inner}")
                    continue
                assert ask(asking, method, path).status_code == 404, (method, path)
    # What is let through is a short list, written out here to be seen to grow.
    assert kept == {
        "GET /", "HEAD /", "GET /config", "GET /config/", "GET /theme.css", "GET /favicon.ico",
        "GET /manifest.json", "GET /assets/x", "GET /static/x", "GET /svelte/x",
        "GET /gradio_api/startup-events", "GET /gradio_api/app_id", "GET /gradio_api/app_id/",
        "GET /gradio_api/queue/data", "GET /gradio_api/theme.css", "GET /gradio_api/heartbeat/x",
        "POST /gradio_api/run/x", "POST /gradio_api/run/x/", "POST /gradio_api/queue/join",
        "POST /gradio_api/cancel", "POST /gradio_api/reset", "POST /gradio_api/reset/",
    }  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "/review/gradio_api/upload", "/review/gradio_api/file=/etc/passwd",
        "/review/gradio_api/file/etc/passwd", "/review/static/../../../../etc/passwd",
        "/review/assets/..%2f..%2f..%2fetc%2fpasswd", "/review/static/%2e%2e/%2e%2e/etc/passwd",
        "/review//lead/config", "/review/../lead/config", "/review/%2e%2e/lead/config",
        "/docs", "/openapi.json", "/redoc", "/gradio_api/mcp/", "/review/gradio_api/mcp/schema",
        "/review/gradio_api/proxy=http://127.0.0.1:1/", "/review/monitoring",
    ],
)  # fmt: skip
def test_no_upload_no_file_by_path_no_way_round(both: Served, path: str) -> None:
    _, running = both
    with running.client("ann") as asking:
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = ask(asking, method, path)
            assert answer.status_code in (403, 404, 405), (method, answer.status_code)
            assert "root:" not in answer.text


def events(running: Site, app: str, name: str) -> list[dict[str, Any]]:
    with running.client(name) as asking:
        found: list[dict[str, Any]] = asking.get(f"{app}/config").json()["dependencies"]
    return found


def call(asking: httpx.Client, app: str, event: dict[str, Any], data: list[Any]) -> httpx.Response:
    body = {"data": data, "fn_index": event["id"], "session_hash": "somebody", "event_data": None}
    queued = event["queue"] is not False
    path = f"{app}/gradio_api/queue/join" if queued else f"{app}/gradio_api/run/predict"
    return asking.post(path, json=body)


def test_no_event_of_leads_can_be_called_by_others(both: Served) -> None:
    _, running = both
    of_leads = [one for one in events(running, "/lead", "lee") if one["backend_fn"]]
    assert len(of_leads) >= 4
    for name, status in ((None, 401), ("ann", 403)):
        with running.client(name) as asking:
            for event in of_leads:
                data = [{"do": "show"}] * len(event["inputs"])
                assert call(asking, "/lead", event, data).status_code == status


class Nobody:
    """A request that came past the guard without a session."""

    cookies: ClassVar[dict[str, str]] = {}
    headers: ClassVar[dict[str, str]] = {}


def refusal_of(function: Any, values: list[Any]) -> str:
    """What a handler says when it is called by nobody."""
    try:
        found = function(Nobody(), *values)
        if inspect.isasyncgen(found):
            found = asyncio.run(anext(found))
        elif inspect.isawaitable(found):
            found = asyncio.run(found)
    except gr.Error as error:
        return str(error.message)
    return str(found)


def test_every_event_looks_for_the_role_itself(both: Served) -> None:
    # Even if a request came past the guard: the handler asks again who it is.
    _, running = both
    for app in APPS:
        for function in mounted(running, app).get_blocks().fns.values():
            assert function.api_visibility == "private", function.fn
            if function.fn is not None:
                values = [{"do": "show"}] * len(function.inputs)
                assert "You are signed out" in refusal_of(function.fn, values), function.fn


def test_a_guessed_id_of_another_reviewer_is_refused(both: Served) -> None:
    site, running = both
    item = site.item("bob")
    assert item is not None
    act = next(one for one in events(running, "/review", "ann") if one["inputs"])
    forged = {"do": "grade", "id": item.answers[0].id, "verdict": "wrong", "token": "x" * 32}
    with running.client("ann") as asking:
        for action in (
            forged,
            {**forged, "do": "draft", "comment": "x"},
            {"do": "undo", "campaign": item.campaign, "token": "x" * 32},
            {"do": "choose", "campaign": item.campaign},
            {"do": "volunteer", "campaign": item.campaign},
        ):
            answer = call(asking, "/review", act, [action])
            assert not any(one.id in answer.text for one in item.answers)
        whole = call(asking, "/review", act, [{"do": "whole", "id": item.answers[0].id}])
        assert item.answers[0].id not in whole.text
    assert site.grades() == []
    assert site.item("bob") == item


@pytest.mark.parametrize(
    "action",
    [
        None, [], "grade", 7, {}, {"do": None}, {"do": "drop"}, {"do": "grade"},
        {"do": "grade", "id": 7, "verdict": "wrong", "token": "x" * 32},
        {"do": "grade", "id": "x", "verdict": ["wrong"], "token": "x" * 32},
        {"do": "grade", "id": "x", "verdict": "wrong", "ticked": "all", "token": "x" * 32},
        {"do": "grade", "id": "x", "verdict": "wrong", "ticked": [1], "token": "x" * 32},
        {"do": "grade", "id": "x\u0000", "verdict": "wrong\u0000", "token": "x" * 32},
        {"do": "forward", "campaign": "x", "item": 2**70}, {"do": "forward", "campaign": "x"},
        {"do": "back", "campaign": "x", "item": True}, {"do": "undo", "campaign": {}},
        {"do": "draft", "id": "x", "comment": "x" * 2_000_000},
    ],
    ids=str,
)  # fmt: skip
def test_forged_actions_change_nothing_and_tell_no_traceback(both: Served, action: object) -> None:
    site, running = both
    act = next(one for one in events(running, "/review", "ann") if one["inputs"])
    before = site.item("ann")
    with running.client("ann") as asking:
        answer = call(asking, "/review", act, [action])
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text
    assert site.grades() == []
    assert site.item("ann") == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"X-Forwarded-For": "10.0.0.1"}, 403),
        ({"X-Forwarded-Host": "evil.example"}, 403),
        ({"Forwarded": "for=10.0.0.1"}, 403),
        ({"Via": "1.1 somewhere"}, 403),
        ({"X-Forwarded-Prefix": "/x"}, 403),
        ({"X-FORWARDED-SERVER": "x"}, 403),
    ],
)
def test_other_sites_names_and_proxies_are_refused(
    both: Served, headers: dict[str, str], status: int
) -> None:
    _, running = both
    with running.client("ann", **headers) as asking:
        for method, path in (("GET", "/review/config"), ("POST", "/sign-in"), ("GET", "/")):
            assert ask(asking, method, path).status_code == status


def test_a_form_of_another_site_cannot_sign_anybody_out(both: Served) -> None:
    _, running = both
    with running.client("ann", **{"Sec-Fetch-Site": "cross-site"}) as asking:
        assert ask(asking, "POST", "/sign-out").status_code == 403
        assert ask(asking, "GET", "/review/config").status_code == 200


@pytest.mark.parametrize("other", ['theme={"a": 1}', "two words=1", "a[b]=1", 'n="q', "_x=\xe9"])
def test_cookies_of_other_servers_hide_nobodys_session(both: Served, other: str) -> None:
    running = both[1]
    own = running.cookie("ann")
    cookies = f"{other}; {own['name']}={own['value']}"
    with running.client() as browser:
        response = browser.get("/review/config", headers={"cookie": cookies.encode("latin-1")})
    assert response.status_code == 200


def test_signing_out_ends_the_session_on_the_server(both: Served) -> None:
    _, running = both
    with running.client("ann") as asking:
        kept = dict(asking.cookies)
        assert ask(asking, "GET", "/review/config").status_code == 200
        assert ask(asking, "POST", "/sign-out").status_code == 303
    with running.client() as asking:
        asking.cookies.update(kept)
        assert ask(asking, "GET", "/review/config").status_code == 401


def test_an_open_page_of_a_disabled_user_is_refused(both: Served) -> None:
    site, running = both
    act = next(one for one in events(running, "/review", "bob") if one["inputs"])
    with running.client("bob") as asking:
        disable_user(site.database, "bob")
        assert call(asking, "/review", act, [{"do": "show"}]).status_code == 401


def test_no_secret_is_in_any_page_or_cookie(both: Served) -> None:
    _, running = both
    port = running.url.rpartition(":")[2]
    with running.client("lee") as asking:
        for path in ("/", "/sign-in", "/lead/", "/lead/config", "/review/", "/review/config"):
            answer = ask(asking, "GET", path)
            assert "argon2" not in answer.text
            assert asking.cookies[f"evalbot_session_{port}"] not in answer.text
        form = {"name": "ann", "password": PASSWORD}
        entered = ask(asking, "POST", "/sign-in", data=form)
        for flag in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert flag.lower() in entered.headers["set-cookie"].lower()


def test_websockets_are_refused(both: Served) -> None:
    _, running = both
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
    }  # fmt: skip
    with running.client("ann", **upgrade) as asking:
        assert ask(asking, "GET", "/review/gradio_api/queue/join").status_code in (403, 404)


def test_every_answer_has_the_headers_that_keep_a_browser_safe(both: Served) -> None:
    _, running = both
    with running.client("ann") as asking:
        for path in ("/sign-in", "/review/", "/review/config", "/nothing", "/lead/"):
            headers = ask(asking, "GET", path).headers
            assert "default-src 'self'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
