"""The sign-in page and the routes around it; no Gradio here."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from evalbot.domain.people import Role
from evalbot.errors import EvalbotError
from evalbot.formats.received import clean_text
from evalbot.reviewing.signing_in import SESSION_LASTS, SignInError, sign_in
from evalbot.store.database import Database
from evalbot.ui.address import Address
from evalbot.ui.assets import asset_text
from evalbot.ui.events import UNREACHABLE
from evalbot.ui.guard import LEAD, REVIEW, SIGN_IN, SIGN_OUT
from evalbot.ui.icon import ICON_LINK
from evalbot.ui.identity import Identity
from evalbot.ui.words import Words, words_for

PAGE = Markup("""<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · evalbot</title>
{icon}
<style>{css}</style>
<main>
<h1>evalbot</h1>
{body}
</main>
</html>
""")
FORM = Markup("""<form method="post" action="{action}">
{problem}
<label>{name}<input name="name" value="{typed}" autocomplete="username" required{name_first}>
</label>
<label>{password}<input name="password" type="password" autocomplete="current-password" required
{password_first}></label>
<button>{sign_in}</button>
</form>
""")
OWNER_ONLY = Markup("<h2>{title}</h2>\n<p>{body}</p>\n")
MOST_SIGNING_IN = 2
"""Passwords that are looked at in the same moment; others wait."""

PROBLEM = Markup('<p role="alert">{}</p>')


def sign_in_routes(database: Database, identity: Identity, address: Address) -> APIRouter:
    """`/`, `/sign-in` and `/sign-out`."""
    router = APIRouter()
    # Hashing takes time on purpose: however many try, the pages have threads and memory left.
    limiter = CapacityLimiter(MOST_SIGNING_IN)
    is_secure = urlsplit(address.url).scheme == "https"

    def with_session(session: str) -> Response:
        response = RedirectResponse("/", 303)
        response.set_cookie(
            identity.cookie, session, httponly=True, samesite="strict", secure=is_secure,
            max_age=int(SESSION_LASTS.total_seconds()), path="/",
        )  # fmt: skip
        return response

    @router.get("/")
    def home(request: Request, token: str | None = None) -> Response:
        if token is not None:
            session = identity.open_as_owner(token)
            if session is not None:
                return with_session(session)
        user = identity.user_of(request.cookies)
        if user is None:
            return RedirectResponse(SIGN_IN, 303)
        return RedirectResponse(f"{LEAD if user.role is Role.LEAD else REVIEW}/", 303)

    @router.get(SIGN_IN)
    def page(request: Request) -> Response:
        words = words_for(request.headers.get("accept-language"))
        if not identity.has_users():
            told = OWNER_ONLY.format(title=words("owner_title"), body=words("owner_body"))
            return _page(words, words("owner_title"), told)
        return _form(words)

    @router.post(SIGN_IN)
    async def enter(
        request: Request, name: Annotated[str, Form()] = "", password: Annotated[str, Form()] = ""
    ) -> Response:
        words = words_for(request.headers.get("accept-language"))
        try:
            session = await to_thread.run_sync(
                sign_in, database, clean_text(name), clean_text(password), limiter=limiter
            )
        except SignInError as error:
            return _form(words, _told(error, words), name)
        except EvalbotError:
            return _form(words, UNREACHABLE, name, 503)
        return with_session(session)

    @router.post(SIGN_OUT)
    def leave(request: Request) -> Response:
        identity.leave(request.cookies)
        response = RedirectResponse(SIGN_IN, 303)
        response.delete_cookie(identity.cookie, path="/")
        return response

    return router


def _told(error: SignInError, words: Words) -> str:
    if error.wait is None:
        return words("wrong_password")
    seconds = max(1, round(error.wait.total_seconds()))
    wait = words("seconds", n=seconds) if seconds < 120 else words("minutes", n=-(-seconds // 60))
    return words("wait_before", wait=wait)


def _form(words: Words, problem: str | None = None, typed: str = "", status: int = 401) -> Response:
    body = FORM.format(
        action=SIGN_IN,
        problem=PROBLEM.format(problem) if problem else "",
        name=words("name"),
        password=words("password"),
        sign_in=words("sign_in"),
        typed=typed[:200],
        name_first="" if typed else Markup(" autofocus"),
        password_first=Markup("autofocus") if typed else "",
    )
    return _page(words, words("sign_in"), body, status if problem else 200)


def _page(words: Words, title: str, body: Markup, status: int = 200) -> Response:
    css = Markup(asset_text("sign_in.css"))  # a file of ours
    icon = Markup(ICON_LINK)
    page = PAGE.format(lang=words.language, title=title, icon=icon, css=css, body=body)
    return HTMLResponse(page, status)
