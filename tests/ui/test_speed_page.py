"""The leads' Speed page in a real browser: tables, the wide form, filters, charts, files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.speed.imports import ImportKind, Named, import_speed
from evalbot.store.database import open_database
from tests.building import write_site
from tests.ui.reviewing import open_page
from tests.ui.serving import Site, add_people, served

DATA = Path(__file__).parents[1] / "data/speed"
HOSTILE = "<img src=x onerror='window.bad = 1'>"


@pytest.fixture(scope="module")
def site(browser_of_module: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """After the browser, whose event loop Gradio then takes instead of leaving ones of its own."""
    folder = write_site(tmp_path_factory.mktemp("speed"))
    with open_database(f"sqlite:///{folder}/evalbot.db") as database:
        import_speed(database, [DATA / "speed_single_stream.csv"], ImportKind.TABLE, Named())
        bench = [DATA / "cpu-two-models.json"]
        named = Named(hardware=HOSTILE, label="bench")
        import_speed(database, bench, ImportKind.LLAMA_BENCH, named)
        add_people(database, lee="lead", ann="reviewer")
        with served(database, folder) as running:
            yield running


@pytest.fixture
def page(site: Site, browser: Browser) -> Page:
    page = open_page(browser, site, "lee", "/lead/")
    page.get_by_role("tab", name="Speed").click()
    page.locator("#panel-speed table").first.wait_for()
    return page


def test_sources_have_a_table_each_and_are_filtered(page: Page) -> None:
    titles = page.locator("#panel-speed h2")
    expect(titles).to_have_count(2)
    page.locator("select[name=sources]").select_option("llama-bench")
    expect(titles).to_have_text(["Speed imported from llama-bench (bench)"])
    expect(page.locator("#panel-speed .notes")).to_contain_text(HOSTILE)
    assert page.evaluate("window.bad") is None
    assert page.locator("#panel-speed img").count() == 0


def test_models_are_chosen_and_the_wide_form_has_them_across(page: Page) -> None:
    page.get_by_text("Models: all").click()
    page.get_by_label("gpt-oss-120b MXFP4").check()
    expect(page.locator("#panel-speed h2")).to_have_count(1)
    page.get_by_label("Wide").check()
    expect(page.locator("#panel-speed h2")).to_contain_text("tok/s")
    head = page.locator("#panel-speed thead th")
    expect(head.first).to_have_text("hardware")
    expect(head.nth(1)).to_contain_text("gpt-oss-120b MXFP4")
    link = page.locator("#panel-speed .downloads a", has_text="csv")
    expect(link).to_have_attribute(
        "href", "/lead/download/speeds?models=gpt-oss-120b+MXFP4&wide=yes&format=csv"
    )
    page.locator("select[name=sources]").select_option("llama-bench")
    page.get_by_text("No result fits all of these.").wait_for()


def test_charts_are_pictures_that_load_nothing(page: Page) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.get_by_role("button", name="Draw charts").click()
    pictures = page.locator("#panel-speed-charts img")
    pictures.first.wait_for()
    for picture in pictures.all():
        assert str(picture.get_attribute("src")).startswith("data:image/svg+xml;base64,")
        assert picture.evaluate("image => image.naturalWidth") > 100
    assert all(url.startswith((page.url.partition("/lead")[0], "data:")) for url in loaded)
    page.get_by_role("button", name="Close").click()
    expect(pictures).to_have_count(0)


def test_the_table_can_be_taken_away_by_leads_only(site: Site) -> None:
    for name, status in (("lee", 200), ("ann", 403)):
        with site.client(name) as client:
            for form in ("md", "csv", "json", "xlsx", "html", "latex"):
                reply = client.get("/lead/download/speeds", params={"format": form})
                assert reply.status_code == status
            found = client.get("/lead/download/speeds?sources=llama-bench&format=csv")
            wide = client.get("/lead/download/speeds?wide=yes&format=csv")
            if status == 200:
                text = found.content.decode("utf-8-sig")
                rows = list(csv.DictReader(io.StringIO(text)))
                assert {row["source"] for row in rows} == {"llama-bench"}
                assert "speeds-wide.csv" in wide.headers["content-disposition"]
                assert client.get("/lead/download/speeds?models=none").status_code == 404
