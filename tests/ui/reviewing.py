"""A review in a browser: a site with something to grade, and what the browser received of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, Response

from evalbot.store.database import open_database
from tests.reviewing.site import ReviewSite, review_site
from tests.ui.serving import PATIENCE_MS, Site, served


@contextmanager
def review_server(
    folder: Path, count: int = 6, url: str | None = None, **texts: str
) -> Iterator[tuple[ReviewSite, Site]]:
    """A served record with a run of so many cases, on SQLite if no URL is given.

    texts: by model, what it says instead.
    """
    with open_database(url or f"sqlite:///{folder}/evalbot.db") as database:
        site = review_site(database, folder, count, texts)
        with served(database, folder) as running:
            yield site, running


def open_page(
    browser: Browser, running: Site, name: str, path: str = "/review/", **options: object
) -> Page:
    """A signed-in page in a browser of its own; in English where no locale is given."""
    context = browser.new_context(**{"locale": "en", **options})  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([running.cookie(name)])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(f"{running.url}{path}")
    return page


def item_number(page: Page) -> int:
    """Which item is on the page."""
    key = page.locator("#panel-review .item").get_attribute("data-item")
    assert key is not None
    return int(key.partition(":")[2])


def wait_for_item(page: Page, number: int) -> None:
    """Until this item is on the page, with nothing left to be saved."""
    page.wait_for_selector(f"#panel-review .item[data-item$=':{number}']")
    wait_until_saved(page)


def wait_until_saved(page: Page) -> None:
    """Until the server has everything."""
    page.wait_for_function("(sessionStorage.getItem('evalbot-unsent') ?? '[]') === '[]'")


@dataclass
class Received:
    """Everything that came to a page, and where it asked for it."""

    bodies: dict[str, str] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Keep what this page receives from now on."""
        page.on("response", self._keep)
        page.on("request", lambda request: self.urls.append(request.url))
        page.on("websocket", lambda socket: self.urls.append(socket.url))

    def _keep(self, response: Response) -> None:
        self.urls.append(response.url)
        if "/assets/" in response.url or "/static/" in response.url:
            return
        try:
            body = response.text()
        except Exception as error:  # a redirect has no body
            body = repr(error)
        name = f"{len(self.bodies):04} {response.request.method} {response.url}"
        self.bodies[name] = json.dumps(dict(response.headers)) + "\n" + body

    def keep_storage(self, page: Page) -> None:
        """What the page has stored, and what stands in it now."""
        self.bodies["storage"] = page.evaluate(
            "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
        )
        self.bodies["document"] = page.content()

    def holding(self, words: list[str]) -> dict[str, list[str]]:
        """Which of these words came with what."""
        return {
            name: found
            for name, body in self.bodies.items()
            if (found := [word for word in words if word.lower() in body.lower()])
        }
