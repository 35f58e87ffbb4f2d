"""The whole server: the guard, the sign-in page, and the two Gradio apps on their mounts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request
from starlette.types import ASGIApp

from evalbot.domain.people import Role
from evalbot.running.background import BackgroundRuns
from evalbot.store.database import Database
from evalbot.ui.address import Address
from evalbot.ui.assets import asset_text
from evalbot.ui.events import Events
from evalbot.ui.guard import LEAD, REVIEW, ROLES, Guard
from evalbot.ui.icon import ICON_LINK
from evalbot.ui.identity import Identity, NotAllowedError
from evalbot.ui.lead.app import build_lead_app
from evalbot.ui.lead.downloads import download_routes
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.look import THEME
from evalbot.ui.review.app import build_review_app
from evalbot.ui.signing_in import sign_in_routes
from evalbot.ui.words import translations

REVIEW_ASSETS = ("common.js", "review.js", "common.css", "review.css", "chat.css")
LEAD_ASSETS = (
    "common.js", "opening.js", "drawer.js",
    "common.css", "lead.css", "chat.css", "runs.css", "results.css", "audit.css",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Server:
    """What is served, and who is asked who may see it."""

    app: ASGIApp
    identity: Identity


def build_server(
    database: Database, config_path: Path | None, folder: Path, address: Address
) -> Server:
    """The server over an open database.

    config_path: evalbot.yaml, read again whenever endpoints are needed; None without one.
    folder: where it lies, and suites and rubrics are looked up. Runs begun from its pages are
    stopped cleanly when the server ends.
    """
    identity = Identity(database, address.port)
    runs = BackgroundRuns(database)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(runs.close)

    app: FastAPI = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.include_router(sign_in_routes(database, identity, address))
    site = LeadSite(database, config_path, folder, Events(identity, Role.LEAD), runs)
    app.include_router(download_routes(site))
    review = build_review_app(database, folder, Events(identity, Role.REVIEWER), site.config)
    app = _mounted(app, review, REVIEW, REVIEW_ASSETS, identity, address)
    app = _mounted(app, build_lead_app(site), LEAD, LEAD_ASSETS, identity, address)
    return Server(Guard(app, address, identity), identity)


def _mounted(
    app: FastAPI,
    blocks: gr.Blocks,
    path: str,
    assets: tuple[str, ...],
    identity: Identity,
    address: Address,
) -> FastAPI:
    def allowed(request: Request) -> str | None:
        try:
            return identity.require(request.cookies, ROLES[path]).name
        except NotAllowedError:
            return None

    scripts = [f"<script>\n{asset_text(name)}</script>" for name in assets if name.endswith(".js")]
    styles = [asset_text(name) for name in assets if name.endswith(".css")]
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        root_path=f"{address.public_url}{path}" if address.public_url else None,
        auth_dependency=allowed,
        css="\n".join(styles),
        head="\n".join([ICON_LINK, *scripts]),
        theme=THEME,
        i18n=gr.I18n(**translations()),
        ssr_mode=False,
        mcp_server=False,
        pwa=False,
        enable_monitoring=False,
        run_history=False,
        footer_links=[],
        show_error=True,
        max_file_size=1,
        allowed_paths=[],
    )
    return mounted
