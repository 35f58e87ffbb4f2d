"""The leads' Audit page in a real browser: numbers, the answers behind them, files, refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from evalbot.auditing.audit import Audit, AuditQuery, audit
from evalbot.domain.rubrics import Layer
from evalbot.reporting.audit_people_tables import threshold_table
from evalbot.reporting.audit_values import audit_values
from evalbot.store.database import Database, open_database
from tests.auditing.site import audited_site, give
from tests.ui.audit_record import COUNT, ODD_JUDGE, ODD_PERSON, audit_record, lenient
from tests.ui.record import SHOWN
from tests.ui.reviewing import open_page
from tests.ui.serving import Site, add_people, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def site(browser_of_module: Browser, folder: Path) -> Iterator[Site]:
    """After the browser, whose event loop Gradio then takes instead of leaving ones of its own."""
    with open_database(f"sqlite:///{folder}/evalbot.db") as database:
        audit_record(database, folder)
        with served(database, folder) as running:
            yield running


@pytest.fixture
def page(site: Site, browser: Browser) -> Page:
    page = audit_page(browser, site)
    page.locator("table.heat").wait_for()
    return page


def audit_page(browser: Browser, site: Site) -> Page:
    page = open_page(browser, site, "lee", "/lead/")
    page.get_by_role("tab", name="Audit").click()
    return page


def audited(site: Site, folder: Path, **query: float) -> Audit:
    return audit(site.database, ["small-1"], folder, AuditQuery(names=True, **query))


def choose_judge(page: Page, name: str) -> None:
    page.locator("#panel-audit select[name=judge]").select_option(name)
    expect(page.locator("#panel-audit h2", has_text=f"{name} against people")).to_be_visible()


def turn_to(page: Page, title: str) -> None:
    page.locator("#panel-audit nav").get_by_role("button", name=title).click()
    expect(page.locator("#panel-audit nav [aria-current=page]")).to_have_text(title)


def drawer(page: Page) -> Locator:
    return page.locator("#panel-audit-behind")


def test_it_opens_with_the_newest_audited_run_and_its_numbers(
    page: Page, site: Site, folder: Path
) -> None:
    found = audited(site, folder)
    expect(page.locator("#panel-audit select[name=run]")).to_have_value("small-1")
    choose_judge(page, "strong")
    [judge] = [one for one in found.judges if one.name == "strong"]
    assert judge.leniency is not None
    cards = page.locator("#panel-audit .cards")
    expect(cards).to_contain_text(f"Same verdict as people on 87.6 % of {judge.n} answers")
    expect(cards).to_contain_text("Lenient: +0.06 credits (+0.01 – +0.11)")
    expect(cards).to_contain_text("higher than people on 11, lower on 0")
    rows = page.locator("table.heat tbody tr")
    for place, counts in enumerate(judge.confusion.counts):
        shown = [cell.split()[0] for cell in rows.nth(place).locator("td").all_inner_texts()]
        assert shown == [str(number) for number in (*counts, sum(counts))]
    panel = page.locator("#panel-audit")
    expect(panel).to_contain_text(f"{found.reviewed} of {COUNT * 3} answers were graded by people")
    expect(panel).to_contain_text("Krippendorff's alpha, interval")
    speeds = panel.locator("section.table", has_text="beside the models' speed")
    expect(speeds.locator("tbody tr", has_text="quagga")).to_contain_text("60.0")
    expect(panel).to_contain_text("strong favours short answers")
    expect(panel).to_contain_text("strong was not probed by today's rubric")


def test_a_cell_of_the_heat_map_opens_exactly_its_answers(page: Page) -> None:
    choose_judge(page, "strong")
    cell = page.locator("button.cell[title='people: wrong, strong: acceptable']")
    count = int(cell.inner_text().split()[0])
    cell.click()
    expect(drawer(page).locator("h2")).to_have_text(
        f"People: wrong, strong: acceptable ({count} answers)"
    )
    answers = drawer(page).locator("article")
    expect(answers).to_have_count(count)
    for answer in answers.all():
        grades = answer.locator("ul.grades")
        expect(grades).to_contain_text("strong: acceptable")
        words = grades.inner_text()
        assert "ann: wrong" in words or "bob: wrong" in words
    # By the keyboard it is closed again, and the place is kept.
    expect(drawer(page).locator("button.close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(answers).to_have_count(0)
    expect(cell).to_be_focused()


def test_a_large_cell_is_read_page_by_page(page: Page) -> None:
    choose_judge(page, ODD_JUDGE)
    cell = page.locator(".heat td.same button.cell").first
    count = int(cell.inner_text().split()[0])
    assert count == 40
    cell.click()
    expect(drawer(page).locator("article")).to_have_count(20)
    first = drawer(page).locator("article h3").all_inner_texts()
    drawer(page).get_by_role("button", name="Next →").first.click()
    expect(drawer(page).locator(".head")).to_contain_text("page 2")
    second = drawer(page).locator("article h3").all_inner_texts()
    assert len(second) == 20
    assert not set(first) & set(second)
    expect(drawer(page).get_by_role("button", name="Next →").first).to_be_disabled()


def test_hostile_texts_and_names_are_shown_as_texts(page: Page) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    expect(page.locator(".cards")).to_contain_text(ODD_JUDGE)
    choose_judge(page, "strong")
    page.locator("button.cell[title='the answer of quagga to c5']").first.click()
    article = drawer(page).locator("article")
    expect(article.locator(".said")).to_have_text(SHOWN)
    expect(article.locator(".words").first).to_have_text(SHOWN)
    expect(article).to_contain_text(f"“{SHOWN}”")
    expect(article).to_contain_text(f"{ODD_PERSON}: wrong")
    page.keyboard.press("Escape")
    turn_to(page, "Reviewers and automatic verdicts")
    expect(page.locator("#panel-audit table").first).to_contain_text(ODD_PERSON)
    assert page.evaluate("window.bad") is None
    inside = ":is(#panel-audit, #panel-audit-behind)"
    assert page.locator(f"{inside} :is(img, script, i)").count() == 0
    assert not [url for url in loaded if "127.0.0.1:1/" in url or url.endswith("/x")]


def test_a_line_of_the_rubric_opens_its_most_telling_answers(page: Page) -> None:
    choose_judge(page, "strong")
    line = page.locator("#panel-audit section.table", has_text="lines of the rubric")
    openers = line.locator("button.cell")
    expect(openers).to_have_count(3)
    named = openers.first.inner_text()
    openers.first.click()
    expect(drawer(page).locator("h2")).to_have_text(named)
    expect(drawer(page).locator("article ul.grades")).to_contain_text("✓ sense")
    expect(drawer(page).locator("article ul.grades")).to_contain_text("✗ sense")


def test_a_wished_error_changes_the_proposed_thresholds(
    page: Page, site: Site, folder: Path
) -> None:
    turn_to(page, "Reviewers and automatic verdicts")
    field = page.locator("#panel-audit input[name=wished]")
    expect(field).to_have_value("5")
    table = page.locator("#panel-audit section.table", has_text="ratios that would keep")
    for wished, share in (("5", 0.05), ("50", 0.5)):
        field.fill(wished)
        field.press("Enter")
        wanted = threshold_table(audited(site, folder, wished_error=share))
        expect(table.locator("h2")).to_have_text(wanted.title)
        for place, row in enumerate(wanted.shown_rows()):
            assert table.locator("tbody tr").nth(place).locator("td").all_inner_texts() == row
    field.fill("-3")
    field.press("Enter")
    assert field.evaluate("field => !field.validity.valid")


def test_the_ranking_is_told_step_by_step_and_drawn_on_demand(page: Page) -> None:
    turn_to(page, "Is the ranking real?")
    panel = page.locator("#panel-audit")
    expect(panel.locator("select[name=layer]")).to_have_value("judge")
    expect(panel.locator(".weighty")).to_contain_text("pairs of models can be told apart")
    expect(panel.locator(".card li")).to_have_count(2)
    expect(panel.locator(".card li").first).to_contain_text("zebra")
    expect(panel.locator("section.table")).to_have_count(2)
    panel.locator("select[name=layer]").select_option("human")
    expect(panel.locator("section.table h2").first).to_contain_text("human layer")
    expect(panel.locator("select[name=judge]")).to_have_count(0)
    panel.get_by_label("Draw figures").check()
    expect(panel.locator("figure img")).to_have_count(2)
    for picture in panel.locator("figure img").all():
        assert str(picture.get_attribute("src")).startswith("data:image/svg+xml;base64,")
        assert picture.evaluate("image => image.naturalWidth") > 100
    turn_to(page, "Is the judge right?")
    expect(panel.locator("figure img")).to_have_count(2)
    expect(panel.get_by_label("Draw figures")).to_be_checked()


def test_a_retest_shows_what_has_changed_side_by_side(page: Page) -> None:
    choose_judge(page, "strong")
    turn_to(page, "Is the ranking real?")
    panel = page.locator("#panel-audit")
    panel.locator("select[name=other]").select_option("small-0")
    expect(panel.locator("section.table h2").first).to_contain_text(
        "small-0 asked again as small-1"
    )
    changed = panel.locator(".changed")
    expect(changed.locator("h2")).to_have_text(
        "What has changed: 3 answers with another verdict than before"
    )
    first = changed.locator("article").first
    expect(first.locator("h3")).to_have_text("c0, zebra")
    expect(first.locator("h4").first).to_have_text("Before: wrong")
    expect(first.locator("h4").last).to_have_text("Now: acceptable")
    expect(first.locator(".said").first).to_have_text("早c0")
    expect(first.locator(".said").last).to_have_text("答案0")
    # The earlier run is a retest of nothing.
    panel.locator("select[name=run]").select_option("small-0")
    expect(panel.locator("select[name=other]")).to_have_count(0)


def test_rates_stand_beside_the_truth_and_refusals_have_their_reason(page: Page) -> None:
    choose_judge(page, "strong")
    turn_to(page, "Rates with truth")
    panel = page.locator("#panel-audit")
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(3)
    own = {"zebra": 0, "okapi": 0, "quagga": 0}
    for model in own:
        weights = [("correct", "acceptable", "wrong").index(lenient(model, n)) / 2
                   for n in range(COUNT)]  # fmt: skip
        rate = f"{100 * sum(weights) / COUNT:.1f} %"
        cells = rows.filter(has_text=model).locator("td").all_inner_texts()
        assert cells[1] == rate
        assert cells[8].count("–") == 1
        assert cells[7].endswith(" %")
    panel.locator("select[name=run]").select_option("small-0")
    expect(panel.locator(".notes")).to_contain_text("nobody has graded this run")


def test_runs_of_the_suite_can_be_pooled(page: Page) -> None:
    panel = page.locator("#panel-audit")
    panel.get_by_text("Pool with other runs of the suite: none").click()
    panel.get_by_role("checkbox", name="small-0").check()
    expect(panel.locator("section.table h2").first).to_contain_text("(small-1, small-0)")
    href = panel.get_by_role("link", name="audit as JSON").get_attribute("href")
    assert href == "/lead/download/audit?runs=small-1&runs=small-0&format=json"


def test_a_run_without_people_says_what_to_do(page: Page) -> None:
    panel = page.locator("#panel-audit")
    panel.locator("select[name=run]").select_option("small-0")
    expect(panel).to_contain_text("Nobody has graded this run")
    expect(panel).to_contain_text("Draw a review of it on the page Campaigns")
    expect(panel.locator("table")).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("report?format=html", "text/html", "report.html"),
        ("report?format=md", "text/markdown", "report.md"),
        ("audit?format=json", "application/json", "audit.json"),
    ],
)
def test_report_and_audit_can_be_taken_away(
    site: Site, folder: Path, path: str, kind: str, name: str
) -> None:
    with site.client("lee") as client:
        reply = client.get(f"/lead/download/{path}&runs=small-1")
    assert reply.status_code == 200
    assert reply.headers["content-type"].partition(";")[0] == kind
    assert reply.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert ODD_PERSON not in reply.text  # pseudonyms leave the house
    assert "<img src=x" not in reply.text
    if name == "audit.json":
        found = audit(site.database, ["small-1"], folder)
        assert reply.json() == json.loads(json.dumps(audit_values(found)))
    else:
        assert "zebra" in reply.text
        assert "small-1" in reply.text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("report?format=pdf", 400, "format: found"),
        ("audit?format=html&runs=small-1", 400, "format: found"),
        ("report?runs=none", 404, "there is no run"),
        ("audit?runs=none", 404, "there is no run"),
        ("audit", 400, "name a run"),
    ],
)
def test_a_wrong_address_is_told_in_a_sentence(
    site: Site, query: str, status: int, words: str
) -> None:
    with site.client("lee") as client:
        reply = client.get(f"/lead/download/{query}")
    assert (reply.status_code, words in reply.text) == (status, True), reply.text


def test_reviewers_and_signed_out_get_no_file(site: Site) -> None:
    with site.client("ann") as client, site.client() as nobody:
        for path in ("report?runs=small-1", "report?format=md", "audit?runs=small-1"):
            refused = client.get(f"/lead/download/{path}")
            assert refused.status_code == 403
            assert "zebra" not in refused.text
            assert nobody.get(f"/lead/download/{path}").status_code == 401


def test_forged_actions_are_refused_in_a_sentence(site: Site) -> None:
    with site.client("lee") as client:
        events = client.get("/lead/config").json()["dependencies"]
        acting = [one["id"] for one in events if one["backend_fn"] and len(one["inputs"]) == 1]
        for action in (
            {"do": "show", "view": "secrets"}, {"do": "show", "wished": "nan"},
            {"do": "show", "layer": "opinion"}, {"do": "one", "run": "small-1", "answer": 10**8},
            {"do": "one", "run": ["x"], "answer": True}, {"do": "open", "runs": 7, "starts": [-1]},
            {"do": "open", "runs": ["none"], "judge": "strong", "starts": ["x"]},
            {"do": "open", "judge": "strong"}, {"do": "show", "run": "x" * 5000, "pooled": {}},
        ):  # fmt: skip
            for event in acting:
                body = {"data": [action], "fn_index": event, "session_hash": "lee"}
                reply = client.post("/lead/gradio_api/run/predict", json=body)
                assert "Traceback" not in reply.text
                assert "This is a bug in evalbot" not in reply.text, (action, reply.text)


def test_an_empty_record_says_what_to_do(tmp_path: Path, browser: Browser) -> None:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as database:
        add_people(database, lee="lead")
        with served(database, tmp_path) as site:
            page = audit_page(browser, site)
            page.get_by_text("There is nothing to audit yet").wait_for()
            page.context.close()


def test_a_run_without_a_judge_says_what_to_do(tmp_path: Path, browser: Browser) -> None:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as database:
        without_judge(database, tmp_path, browser)


def without_judge(database: Database, folder: Path, browser: Browser) -> None:
    give(audited_site(database, folder, 3), Layer.HUMAN, "ann", lambda *_: "correct")
    with served(database, folder) as site:
        page = audit_page(browser, site)
        page.get_by_text("No judge has graded this run: evalbot judge small-1").wait_for()
        turn_to(page, "Reviewers and automatic verdicts")
        expect(page.locator("#panel-audit section.table").nth(1)).to_contain_text("ann")
        turn_to(page, "Is the ranking real?")
        expect(page.locator("#panel-audit select[name=layer]")).to_have_value("human")
        turn_to(page, "Rates with truth")
        page.get_by_text("No judge has graded this run").wait_for()
        page.context.close()
