"""The documentation as a site: it builds without a warning, can be searched, and loads nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOADING = {
    "audio": "src", "embed": "src", "iframe": "src", "img": "src", "input": "src",
    "link": "href", "object": "data", "script": "src", "source": "src", "video": "src",
}  # fmt: skip


class Loaded(HTMLParser):
    """The addresses that a browser fetches by itself for a page; links to click are none."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        address = named.get(LOADING.get(tag, ""))
        if address and not (tag == "link" and named.get("rel") == "canonical"):
            self.addresses.append(address)
        self.addresses += re.findall(r"url\(([^)]+)\)", named.get("style") or "")


def is_elsewhere(address: str) -> bool:
    return re.match(r"(https?:)?//", address.strip("'\" ")) is not None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a missing page or a broken link is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_built_and_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        if name != "index":
            assert (site / name / "index.html").exists(), name
            assert f'href="{name}/"' in home, name


@pytest.mark.parametrize(
    ("word", "page"), [("Krippendorff", "statistics/"), ("--overlap", "guide/")]
)
def test_the_search_finds_words(site: Path, word: str, page: str) -> None:
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    holders = {one["location"].partition("#")[0] for one in found["docs"] if word in one["text"]}
    assert page in holders


def test_pages_have_a_field_to_search_in(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    assert 'action="./search.html"' in home
    assert "search/main.js" in home


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for address in Loaded(page.read_text(encoding="utf-8")).addresses:
            assert not is_elsewhere(address), f"{page.relative_to(site)}: {address}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        for address in re.findall(r"url\(([^)]+)\)|@import\s+([^;]+)", text):
            assert not is_elsewhere("".join(address)), style.relative_to(site)


def test_what_is_looked_for_is_found_where_it_is() -> None:
    page = (
        '<link rel="stylesheet" href="//fonts.example/a.css"><script src="https://cdn.example/a">'
    )
    assert [is_elsewhere(one) for one in Loaded(page).addresses] == [True, True]
    assert not is_elsewhere("../css/theme.css")
