"""A lead's chat page in a real browser."""

from __future__ import annotations

from playwright.sync_api import Browser, Locator, Page

from tests.ui.serving import PATIENCE_MS, Site


class ChatPage:
    """One person's page with the chat tab open."""

    def __init__(self, site: Site, browser: Browser, user: str = "lee") -> None:
        self.context = browser.new_context(locale="en")
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.add_cookies([site.cookie(user)])  # type: ignore[list-item]
        self.page: Page = self.context.new_page()
        self.requested: list[str] = []
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.goto(f"{site.url}/lead/")
        self.page.get_by_role("tab", name="Chat").click()

    def choose(self, *endpoints: str, blind: bool = False) -> None:
        """For a new chat."""
        boxes = self.page.locator("#chat-endpoints")
        boxes.get_by_label(endpoints[0], exact=True).wait_for()
        for box in boxes.get_by_role("checkbox").all():
            box.set_checked(box.evaluate("box => box.name") in endpoints)
        self.page.locator("#chat-blind").get_by_role("checkbox").set_checked(blind)

    def ask(self, prompt: str) -> None:
        """Type a prompt and press Enter."""
        box = self.page.locator("#chat-prompt textarea")
        box.fill(prompt)
        box.press("Enter")

    @property
    def live(self) -> Locator:
        """The answers that are coming."""
        return self.page.locator("#panel-chat-live")

    @property
    def said(self) -> Locator:
        """What is on record."""
        return self.page.locator("#panel-chat")

    def wait_until_answered(self, turn: int = 1) -> Locator:
        """The turn, once it is done."""
        found = self.said.locator(".chat-turn").nth(turn - 1)
        found.locator(".chat-case").wait_for()
        return found

    def close(self) -> None:
        """Leave the page."""
        self.context.close()
