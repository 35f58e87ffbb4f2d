"""What no request gets past: wrong names, other sites, unknown proxies, the wrong role, routes
that nobody needs. Each is refused here, before Gradio sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalbot.domain.people import Role
from evalbot.ui.address import FORWARDED, Address
from evalbot.ui.identity import Identity, NotAllowedError

REVIEW, LEAD = "/review", "/lead"
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
ROLES = {REVIEW: Role.REVIEWER, LEAD: Role.LEAD}
"""The two apps by where they are mounted, and who may use them."""

DOWNLOADS = "/lead/download/"
NEEDED = re.compile(
    r"""
    GET\ (?:/?|/config/?|/theme\.css|/favicon\.ico|/manifest\.json
          |/(?:assets|static|svelte)/.+
          |/gradio_api/(?:startup-events|app_id/?|queue/data|theme\.css|heartbeat/[\w-]+))
    |HEAD\ /?
    |POST\ /gradio_api/(?:run/\w+|queue/join|cancel|reset)/?
    """,
    re.VERBOSE,
)
"""The routes of a Gradio app that its page uses; uploads, files and the rest are none of them."""

MOST_BYTES = 8_000_000
"""Of what one request may send: a pasted prompt is the largest of it."""

SAFE_METHODS = frozenset({"GET", "HEAD"})
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
CACHEABLE = re.compile(r"/(?:review|lead)/(?:assets|static)/")


class Guard:
    """Stands before the whole server."""

    def __init__(self, app: ASGIApp, address: Address, identity: Identity) -> None:
        self._app = app
        self._address = address
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # Nothing here speaks over websockets: closing before accepting refuses.
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in
                   scope["headers"]}  # fmt: skip
        refusal = self._refusal(scope, headers)
        if refusal is None:
            refusal = await self._refusal_by_role(scope, headers)
        if refusal is None:
            kept = [one for one in scope["headers"] if one[0].decode("latin-1") not in FORWARDED]
            scope = {**scope, "headers": kept}
        answer = refusal or self._app
        left = MOST_BYTES

        async def receive_at_most() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)
            return message

        is_cacheable = CACHEABLE.match(scope["path"]) is not None

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = {name.lower() for name, _ in message["headers"]}
                added = [
                    (name.encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.encode() not in found
                ]
                if not is_cacheable and b"cache-control" not in found:
                    added.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await answer(scope, receive_at_most, send_with_headers)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        peer = scope["client"][0] if scope.get("client") else None
        if headers.get("host", "").lower() not in self._address.hosts:
            return _refused(421, "This server is not called so; see --public-url.")
        if self._address.is_forwarded_unasked(headers, peer):
            return _refused(
                403,
                "This request came through a proxy that evalbot was not told of; "
                "see --trusted-proxy.",
            )
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > MOST_BYTES:
            return _refused(413, "This request is larger than any page sends.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._address.origins:
            return _refused(403, "This request was made by a page of another site.")
        if scope["method"] not in SAFE_METHODS and headers.get("sec-fetch-site") in (
            "cross-site",
            "same-site",
        ):
            return _refused(403, "This request was made by a page of another site.")
        return None

    async def _refusal_by_role(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        path = scope["path"]
        mount = next((one for one in ROLES if path == one or path.startswith(f"{one}/")), None)
        if mount is None:
            return None
        try:
            await to_thread.run_sync(self._identity.require, cookies_of(headers), ROLES[mount])
        except NotAllowedError as error:
            if error.is_signed_out and scope["method"] == "GET" and _wants_page(headers):
                return RedirectResponse(SIGN_IN, 303)
            status = 401 if error.is_signed_out else 403
            return JSONResponse({"error": str(error)}, status)
        if path.startswith(DOWNLOADS):
            return None
        if not NEEDED.fullmatch(f"{scope['method']} {path.removeprefix(mount)}"):
            return _refused(404, "There is nothing here.")
        return None


def cookies_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request, read as the app behind reads them.

    Other servers of this machine set cookies for its name, too: none of them hides ours.
    """
    return cookie_parser(headers.get("cookie", ""))


def _wants_page(headers: Mapping[str, str]) -> bool:
    return "text/html" in headers.get("accept", "")


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)
