"""The leads' Results page in a real browser: layers, filters, what is behind a number, files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.store.database import Database, open_database
from tests.ui.record import SHOWN, small_record
from tests.ui.reviewing import open_page
from tests.ui.serving import Site, add_people, served

KINDS = {
    "md": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "latex": "application/x-tex",
}


@pytest.fixture(scope="module")
def site(browser_of_module: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """After the browser, whose event loop Gradio then takes instead of leaving ones of its own."""
    folder = tmp_path_factory.mktemp("results")
    with open_database(f"sqlite:///{folder}/evalbot.db") as database:
        small_record(database, folder)
        add_people(database, lee="lead", ann="reviewer")
        with served(database, folder) as running:
            yield running


@pytest.fixture
def page(site: Site, browser: Browser) -> Page:
    page = open_page(browser, site, "lee", "/lead/")
    page.get_by_role("tab", name="Results").click()
    page.locator("#panel-results table").wait_for()
    return page


def cell(page: Page, model: str, counted: str) -> None:
    page.locator(f"button.cell[title='the answers behind: {model}, {counted}']").last.click()


def test_a_number_opens_its_answers_with_all_grades(page: Page) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    cell(page, "qwen", "unscored")
    first = page.locator("#panel-behind article").first
    expect(first).to_contain_text("電気を消して")
    expect(first).to_contain_text("请关灯")
    expect(first.locator(".said")).to_have_text(SHOWN)
    grades = first.locator("ul.grades > li")
    expect(grades).to_have_count(3)
    expect(grades.nth(0)).to_contain_text("unscored: needs_review")
    expect(grades.nth(0)).to_contain_text("ratio")
    expect(grades.nth(1)).to_contain_text("strong: wrong")
    expect(grades.nth(1)).to_contain_text(SHOWN)
    expect(grades.nth(2)).to_contain_text("close enough")
    assert page.evaluate("window.bad") is None
    assert page.locator("#panel-behind :is(img, script, a)").count() == 0
    assert not [url for url in loaded if "127.0.0.1:1/" in url or url.endswith("/x")]
    cell(page, "gemma<b>", "wrong")
    expect(page.locator("#panel-behind h2")).to_have_text("gemma<b>: wrong (auto layer)")
    expect(page.locator("#panel-behind .said")).to_have_text("请开门")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#panel-behind article")).to_have_count(0)


def test_layers_judges_tags_and_models_are_chosen(page: Page) -> None:
    table = page.locator("#panel-results table")
    page.locator("select[name=layer]").select_option("judge")
    expect(page.locator("#panel-results h2")).to_contain_text("judge layer")
    expect(page.locator("select[name=judge]")).to_contain_text("strong")
    page.locator("select[name=judge]").select_option("strong")
    expect(table.locator("tbody tr").first).to_contain_text("50.0 %")
    cell(page, "qwen", "wrong")
    expect(page.locator("#panel-behind h2")).to_have_text("qwen: wrong (judge layer)")
    page.locator("select[name=layer]").select_option("human")
    expect(page.locator("#panel-results h2")).to_contain_text("human layer")
    expect(page.locator("select[name=judge]")).to_have_count(0)
    page.locator("select[name=layer]").select_option("auto")
    page.locator("select[name=tag]").select_option("weather")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table).not_to_contain_text("house")
    page.locator("select[name=tag]").select_option("*")
    expect(table.locator("tbody tr")).to_have_count(4)
    page.get_by_text("Models: all").click()
    page.get_by_label("gemma<b>").check()
    expect(page.get_by_text("Models: 1 of 2")).to_be_visible()
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table).not_to_contain_text("qwen")


SLOW_FIRST_ANSWER = """() => {
  const ask = window.fetch;
  window.slowed = 0;
  window.fetch = async (...what) => {
    const answer = await ask(...what);
    if (window.slowed === 0 && String(what[0]).includes("/run/")) {
      window.slowed = 1;
      await new Promise((go) => setTimeout(go, 1500));
    }
    return answer;
  };
}"""


def test_the_last_choice_stays_where_an_earlier_answer_is_slow(page: Page) -> None:
    page.evaluate(SLOW_FIRST_ANSWER)
    page.locator("select[name=layer]").select_option("human")
    page.locator("select[name=layer]").select_option("judge")
    page.locator("select[name=layer]").select_option("auto")
    page.wait_for_function("window.slowed === 1")
    page.wait_for_timeout(3000)
    assert "auto layer" in page.locator("#panel-results h2").inner_text()
    expect(page.locator("select[name=layer]")).to_have_value("auto")


def test_the_chart_is_a_picture_that_loads_nothing(page: Page) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.get_by_role("button", name="Draw quality against speed").click()
    picture = page.locator("#panel-charts img")
    picture.wait_for()
    assert str(picture.get_attribute("src")).startswith("data:image/svg+xml;base64,")
    assert picture.evaluate("image => image.naturalWidth") > 100
    assert all(url.startswith((page.url.partition("/lead")[0], "data:")) for url in loaded)


def test_what_is_shown_can_be_taken_away(page: Page) -> None:
    page.locator("select[name=tag]").select_option("weather")
    expect(page.locator("#panel-results tbody tr")).to_have_count(2)
    page.locator("#panel-results h2").filter(has_text="small").wait_for()
    link = page.locator(".downloads a", has_text="csv")
    expect(link).to_have_attribute("href", "/lead/download/rates?layer=auto&tag=weather&format=csv")
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "rates-auto.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["tag"] for row in rows} == {"weather"}


@pytest.mark.parametrize("form", sorted(KINDS))
def test_rates_come_in_every_format(site: Site, form: str) -> None:
    with site.client("lee") as client:
        reply = client.get("/lead/download/rates", params={"format": form, "runs": "small-1"})
    assert reply.status_code == 200
    assert reply.headers["content-type"].partition(";")[0] == KINDS[form]
    ending = {"latex": "tex"}.get(form, form)
    assert reply.headers["content-disposition"] == f'attachment; filename="rates-auto.{ending}"'
    if form == "json":
        assert [row["model"] for row in json.loads(reply.text)] == ["qwen", "gemma<b>"]
    elif form == "html":
        assert "gemma&lt;b&gt;" in reply.text
    elif form == "xlsx":
        assert reply.content.startswith(b"PK")
    else:
        assert "qwen" in reply.text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("format=pdf", 400, "expected"),
        ("layer=opinion", 400, "layer: found"),
        ("runs=none", 404, "there is no run"),
        ("models=llama", 404, "no model"),
        ("layer=judge&judge=nobody", 404, "no judge"),
    ],
)
def test_a_wrong_address_is_told_in_a_sentence(
    site: Site, query: str, status: int, words: str
) -> None:
    with site.client("lee") as client:
        reply = client.get(f"/lead/download/rates?{query}")
    assert reply.status_code == status
    assert words in reply.text


def test_reviewers_get_nothing_of_it(site: Site) -> None:
    with site.client("ann") as client:
        for path in ("rates", "rates?format=json", "speeds"):
            reply = client.get(f"/lead/download/{path}")
            assert reply.status_code == 403
            assert "qwen" not in reply.text
        reply = client.post("/lead/gradio_api/run/0", json={"fn_index": 0, "data": [{}]})
        assert reply.status_code == 403
    with site.client() as client:
        assert client.get("/lead/download/rates").status_code == 401


def test_an_empty_record_says_what_to_do(tmp_path: Path, browser: Browser) -> None:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as database:
        show_empty(database, tmp_path, browser)


def show_empty(database: Database, folder: Path, browser: Browser) -> None:
    add_people(database, lee="lead")
    with served(database, folder) as site:
        page = open_page(browser, site, "lee", "/lead/")
        page.get_by_role("tab", name="Results").click()
        page.get_by_text("there are no runs yet; `evalbot run").wait_for()
        page.get_by_role("tab", name="Speed").click()
        page.get_by_text("There are no speed results yet").wait_for()
        page.context.close()
