"""One browser for the tests of a module; a context each, so that none sees another's cookies."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.ui.serving import CHROMIUM_FLAGS, PATIENCE_MS, chromium

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def browser_of_module() -> Iterator[Browser]:
    """A headless Chromium; ends with the module, since other tests need their own event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser(browser_of_module: Browser) -> Iterator[Browser]:
    """Its pages are closed when the test is over, and ask their server nothing more."""
    yield browser_of_module
    for context in browser_of_module.contexts:
        context.close()
