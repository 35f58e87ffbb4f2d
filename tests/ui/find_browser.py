"""Makes sure that there is a browser for the tests of pages: `python -m tests.ui.find_browser`.

The machine's own Chromium; else Playwright's, which it downloads; else the system's package, where
this may be installed; else it says what to type.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.ui.serving import chromium

LONGEST_S = 600
ADVICE = """No Chromium was found for the tests of the web page, and none could be installed.
Type one of:
  sudo apt-get install chromium        (Debian, Ubuntu)
  sudo dnf install chromium            (Fedora)
  brew install --cask chromium         (macOS)
  .venv/bin/playwright install chromium
"""


def has_playwrights_own() -> bool:
    """Whether Playwright has downloaded a browser."""
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path).is_file()


def ran(*command: str) -> bool:
    """Whether a command went well; what it says is shown."""
    try:
        return subprocess.run(command, timeout=LONGEST_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> int:
    """0 when there is a browser."""
    if chromium() or has_playwrights_own():
        return 0
    if ran(sys.executable, "-m", "playwright", "install", "chromium") and has_playwrights_own():
        return 0
    may_install = shutil.which("apt-get") and os.geteuid() == 0
    if may_install and ran("apt-get", "update") and ran("apt-get", "install", "-y", "chromium"):
        return 0 if chromium() else 1
    sys.stderr.write(ADVICE)
    return 1


if __name__ == "__main__":
    sys.exit(main())
