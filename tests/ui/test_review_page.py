"""Reviewing in a real browser: by keys alone, undone, reloaded, elsewhere, and with bad luck."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evalbot.domain.reviewing import Layout
from evalbot.errors import BusyError
from evalbot.reviewing import submitting
from evalbot.reviewing.users import disable_user, enable_user
from tests.people import PASSWORD
from tests.reviewing.site import ReviewSite, judge_all
from tests.ui.reviewing import (
    Received,
    item_number,
    open_page,
    review_server,
    wait_for_item,
    wait_until_saved,
)
from tests.ui.serving import Site

Served = tuple[ReviewSite, Site]


@pytest.fixture
def served_site(tmp_path: Path) -> Iterator[Served]:
    with review_server(tmp_path, 12) as both:
        yield both


def grade_by_keys(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        wait_until_saved(page)


def test_ten_items_by_keys_only_undone_reloaded_and_gone_on_with_elsewhere(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = browser.new_page()
    page.goto(running.url)
    expect(page.locator("input[name=name]")).to_be_focused()
    page.keyboard.type("ann")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    wait_for_item(page, 0)
    for number in range(5):
        wait_for_item(page, number)
        page.keyboard.press("1")
        page.keyboard.press("2")  # without waiting for the first
        page.keyboard.press("3")
    wait_for_item(page, 5)
    expect(page.locator("#panel-review .head")).to_contain_text("15 of 36 answers graded")

    page.keyboard.press("u")
    wait_for_item(page, 4)
    expect(page.locator("article.answer.focused h3")).to_contain_text("Answer C")
    page.reload()
    wait_for_item(page, 4)
    page.keyboard.press("x")
    wait_for_item(page, 5)

    elsewhere = open_page(browser, running, "ann")
    for number in range(5, 10):
        wait_for_item(elsewhere, number)
        grade_by_keys(elsewhere, "1", "1", "1")
    wait_for_item(elsewhere, 10)
    expect(elsewhere.locator("#panel-review .head")).to_contain_text("30 of 36 answers graded")
    said = [one.verdict or one.unscored_reason for _, one in site.grades()]
    assert said == (
        ["correct", "acceptable", "wrong"] * 5 + ["not_graded", "cannot_judge"] + ["correct"] * 15
    )


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_reviewing_on_postgresql(database_url: str, tmp_path: Path, browser: Browser) -> None:
    with review_server(tmp_path, 2, database_url) as (site, running):
        site.campaign()
        page = open_page(browser, running, "ann")
        wait_for_item(page, 0)
        grade_by_keys(page, "1", "2", "3")
        wait_for_item(page, 1)
        grade_by_keys(page, "1", "2", "u", "x", "3")
        expect(page.get_by_text("All done. Thank you!")).to_be_visible()
        assert len(site.grades()) == 8


def test_arrows_go_from_answer_to_answer_and_on_to_other_items(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    focused = page.locator("article.answer.focused h3")
    for label in "BC":
        page.keyboard.press("ArrowRight")
        expect(focused).to_contain_text(f"Answer {label}")
    page.keyboard.press("ArrowRight")
    wait_for_item(page, 1)
    page.keyboard.press("ArrowLeft")
    wait_for_item(page, 0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    wait_until_saved(page)
    expect(page.locator("article.answer").nth(1).locator(".chip")).to_contain_text("wrong")
    assert site.grades()[0][1].verdict == "wrong"


def test_a_draft_survives_a_reload_and_goes_with_the_grade(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.keyboard.press("c")
    with page.expect_response(lambda response: "predict" in response.url):
        page.keyboard.type("1 of these keys is not a grade: 123xu?")
    page.reload()
    wait_for_item(page, 0)
    expect(page.locator("article.answer.focused textarea")).to_have_value(
        "1 of these keys is not a grade: 123xu?"
    )
    assert site.grades() == []
    page.keyboard.press("2")
    wait_until_saved(page)
    assert site.grades()[0][1].comment == "1 of these keys is not a grade: 123xu?"


def test_a_comment_opened_by_the_mouse_is_written_and_is_no_key(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.locator("article.answer summary", has_text="Comment").first.click()
    page.keyboard.type("unusual x1")
    expect(page.locator("article.answer textarea").first).to_have_value("unusual x1")
    page.locator("article.answer summary", has_text="Comment").first.click()  # folded again
    page.keyboard.type("u1")
    page.reload()
    wait_for_item(page, 0)
    expect(page.locator("article.answer textarea").first).to_have_value("unusual x1")
    assert site.grades() == []


def test_who_comes_back_to_change_a_grade_stays_there(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    grade_by_keys(page, "1", "1", "1")
    wait_for_item(page, 1)
    page.keyboard.press("ArrowLeft")
    wait_for_item(page, 0)
    page.keyboard.press("3")
    chip = page.locator("article.answer").first.locator(".chip")
    expect(chip).to_contain_text("wrong")
    wait_for_item(page, 0)
    page.keyboard.press("u")
    expect(chip).to_contain_text("correct")
    page.keyboard.press("Enter")
    wait_for_item(page, 1)
    assert [one.verdict for _, one in site.grades()] == ["correct"] * 3 + ["wrong", "correct"]


def test_a_dropped_connection_loses_nothing_and_doubles_nothing(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.context.set_offline(True)
    for key in "123":
        page.keyboard.press(key)
    expect(page.locator("#panel-review .saving")).to_contain_text("Not saved yet")
    assert site.grades() == []
    page.context.set_offline(False)
    wait_for_item(page, 1)
    assert [one.verdict for _, one in site.grades()] == ["correct", "acceptable", "wrong"]


def test_a_change_of_mind_counts_also_while_the_connection_is_lost(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign(layout=Layout.SINGLE)
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("3")
    expect(page.locator("button.verdict[aria-pressed=true]")).to_have_text(["wrong 3"])
    page.context.set_offline(False)
    wait_until_saved(page)
    assert [one.verdict for _, one in site.grades()] == ["correct", "wrong"]
    # As after any change, the page stays until one goes on.
    expect(page.locator("#panel-review .item")).to_have_attribute("data-done-item", "1")
    assert item_number(page) == 0


def test_a_reply_that_is_lost_doubles_nothing(served_site: Served, browser: Browser) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    lost = []

    def lose(route: object) -> None:
        if not lost:
            lost.append(route.fetch())  # type: ignore[attr-defined]
            route.abort()  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/run/predict*", lose)
    page.keyboard.press("1")
    page.wait_for_function("(sessionStorage.getItem('evalbot-unsent') ?? '[]') === '[]'")
    expect(page.locator("article.answer").first.locator(".chip")).to_contain_text("correct")
    assert len(lost) == 1
    assert len(site.grades()) == 1


def test_what_was_not_sent_when_the_page_was_left_is_sent_when_it_is_back(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.route("**/run/predict*", lambda route: route.abort())
    page.keyboard.press("1")
    page.unroute("**/run/predict*")
    page.reload()
    wait_until_saved(page)
    assert len(site.grades()) == 1


def test_pressing_twice_grades_once(served_site: Served, browser: Browser) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.locator("article.answer").first.get_by_role("button", name="wrong").dblclick()
    wait_until_saved(page)
    assert len(site.grades()) == 1


def test_a_disabled_user_is_told_and_what_they_pressed_is_kept(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    disable_user(site.database, "ann")
    page.keyboard.press("1")
    expect(page.locator("#panel-review .saving")).to_contain_text("signed out")
    assert site.grades() == []
    enable_user(site.database, "ann")
    page.context.add_cookies([running.cookie("ann")])  # type: ignore[list-item]
    page.reload()
    wait_until_saved(page)
    assert [one.verdict for _, one in site.grades()] == ["correct"]


HOSTILE = (
    "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'> "
    "![picture](http://127.0.0.1:9/p.png) [link](http://127.0.0.1:9/) {{this}} ${1+1} "
    "\u202eabc\u0000\u001b[31m"
)


def test_what_models_write_is_text_and_loads_nothing(tmp_path: Path, browser: Browser) -> None:
    with review_server(tmp_path, 1, zebra=HOSTILE) as (site, running):
        site.campaign()
        page = browser.new_context().new_page()
        received = Received()
        received.watch(page)
        page.context.add_cookies([running.cookie("ann")])  # type: ignore[list-item]
        page.goto(f"{running.url}/review/")
        wait_for_item(page, 0)
        shown = "\n".join(page.locator("article.answer .body").all_inner_texts())
        for part in (
            "<script>window.hurt = 1</script>", "<img src=x onerror", "![picture](http",
            "{{this}} ${1+1}", "⟦U+202E⟧abc␀␛[31m",
        ):  # fmt: skip
            assert part in shown
        assert page.evaluate("window.hurt") is None
        assert page.locator("article.answer .body img, article.answer .body a").count() == 0
        assert {url for url in received.urls if not url.startswith((running.url, "data:"))} == set()


def test_a_megabyte_in_one_line_is_folded_and_can_be_seen_whole(
    tmp_path: Path, browser: Browser
) -> None:
    with review_server(tmp_path, 1, zebra="长" * 1_000_000) as (site, running):
        site.campaign()
        page = open_page(browser, running, "ann", viewport={"width": 390, "height": 800})
        wait_for_item(page, 0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name="Show all of it (1,000,000 characters)").click()
        page.wait_for_function(
            "[...document.querySelectorAll('article.answer .body')]"
            ".some(one => one.textContent.length === 1000000)"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("1")
        wait_until_saved(page)


def test_what_is_unfolded_stays_so_while_the_item_is_graded(
    tmp_path: Path, browser: Browser
) -> None:
    with review_server(tmp_path, 1, zebra="长" * 7_000, okapi="短" * 8_000) as (site, running):
        site.campaign()
        page = open_page(browser, running, "ann")
        wait_for_item(page, 0)
        more = page.get_by_role("button", name="Show all of it")
        expect(more).to_have_count(2)
        more.first.click()
        expect(more).to_have_count(1)
        more.first.click()
        expect(more).to_have_count(0)
        grade_by_keys(page, "1")
        expect(page.locator("article.answer .chip", has_text="correct")).to_have_count(1)
        lengths = page.locator("article.answer .body").evaluate_all(
            "all => all.map(one => one.textContent.length)"
        )
        assert sorted(lengths)[1:] == [7_000, 8_000]


@pytest.mark.parametrize(
    ("locale", "words"),
    [("ja", "12 件中 0 件を採点済み"), ("zh-CN", "共 12 个回答，已评分 0 个"),
     ("de", "0 of 12 answers graded")],
)  # fmt: skip
def test_the_page_speaks_the_browsers_language(
    tmp_path: Path, browser: Browser, locale: str, words: str
) -> None:
    with review_server(tmp_path, 4) as (site, running):
        site.campaign()
        page = open_page(browser, running, "ann", locale=locale)
        wait_for_item(page, 0)
        expect(page.locator("#panel-review .head")).to_contain_text(words)
        assert page.locator(".case .text").first.get_attribute("lang") == "ja"
        assert page.locator("article.answer .body").first.get_attribute("lang") == "zh-Hans"


def test_full_width_digits_of_an_input_method_are_grades(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann", locale="ja")
    wait_for_item(page, 0)
    page.evaluate(
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: '３', bubbles: true}))"
    )
    wait_until_saved(page)
    assert site.grades()[0][1].verdict == "wrong"


def test_practice_and_the_judges_word(served_site: Served, browser: Browser) -> None:
    site, running = served_site
    judge_all(site, "acceptable")
    site.campaign(practice=1, reveal_judge=True)
    page = open_page(browser, running, "ann")
    wait_for_item(page, -1)
    expect(page.locator(".welcome")).to_contain_text("Practice")
    grade_by_keys(page, "1", "1")
    expect(page.locator(".feedback").first).to_contain_text("it is")
    page.keyboard.press("Enter")
    wait_for_item(page, 0)
    grade_by_keys(page, "1", "1", "1")
    expect(page.locator(".feedback")).to_have_text(
        ["The judge said “acceptable”. or choose another grade"] * 3
    )
    page.keyboard.press("2")
    wait_until_saved(page)
    page.keyboard.press("Enter")
    wait_for_item(page, 1)
    said = [(one.verdict, "judge" in (one.seen or ())) for _, one in site.grades()]
    assert said[:3] == [("correct", False)] * 3
    assert sorted(said[3:]) == [("acceptable", True), ("correct", True), ("correct", True)]


def test_the_end_and_a_little_more(tmp_path: Path, browser: Browser) -> None:
    with review_server(tmp_path, 2) as (site, running):
        site.campaign(policy="random", budget=3)
        page = open_page(browser, running, "ann")
        wait_for_item(page, 0)
        grade_by_keys(page, "1", "1", "1")
        expect(page.get_by_text("All done. Thank you!")).to_be_visible()
        assert item_count(page) == 0
        page.get_by_role("button", name="Grade some more").click()
        wait_for_item(page, 1)
        assert item_number(page) == 1


def item_count(page: Page) -> int:
    return page.locator("#panel-review .item").count()


def test_the_keys_are_listed(served_site: Served, browser: Browser) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    keys = page.get_by_role("dialog", name="Keys")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_undo_takes_back_what_its_own_page_graded_last(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    grade_by_keys(page, "1")
    other = page.context.new_page()
    other.goto(f"{running.url}/review/")
    wait_for_item(other, 0)
    grade_by_keys(other, "2")
    page.bring_to_front()
    page.keyboard.press("u")
    expect(page.get_by_role("alert")).to_contain_text("nothing was taken back")
    assert [one.verdict for _, one in site.grades()] == ["correct", "acceptable"]
    page.keyboard.press("u")
    wait_until_saved(page)
    assert [one.unscored_reason for _, one in site.grades()] == [None, None, "not_graded"]


def test_undo_right_after_a_grade_takes_that_back(served_site: Served, browser: Browser) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    grade_by_keys(page, "1")
    page.keyboard.press("2")
    page.keyboard.press("u")  # without waiting for it
    wait_until_saved(page)
    expect(page.locator("article.answer").nth(1)).to_have_attribute("data-graded", "")
    assert [one.verdict for _, one in site.grades()] == ["correct", "acceptable", None]


def test_grading_one_answer_keeps_what_was_just_typed_about_another(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.keyboard.press("c")
    page.keyboard.type("of A")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    grade_by_keys(page, "1")
    expect(page.locator("article.answer").nth(1).locator(".chip")).to_contain_text("correct")
    page.wait_for_timeout(1_500)  # longer than the pause after which drafts are saved
    page.reload()
    wait_for_item(page, 0)
    expect(page.locator("article.answer").first.locator("textarea")).to_have_value("of A")


def test_text_that_no_database_can_keep_blocks_nothing(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.evaluate("document.querySelector('article textarea').value = 'a\\ud800\\0b'")
    grade_by_keys(page, "1", "2")
    assert [one.comment for _, one in site.grades()] == ["a\ufffd\ufffdb", None]


def test_what_the_record_cannot_take_now_is_sent_until_it_can(
    served_site: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    received = Received()
    received.watch(page)

    def busy(*_: object) -> None:
        monkeypatch.undo()
        raise BusyError("database sqlite:////secret/place.db: locked")

    monkeypatch.setattr(submitting, "grade", busy)
    page.keyboard.press("3")
    wait_until_saved(page)
    assert [one.verdict for _, one in site.grades()] == ["wrong"]
    assert received.holding(["secret", "locked"]) == {}


def test_a_bug_in_one_action_blocks_no_other(
    served_site: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)

    def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(submitting, "move", broken)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("alert")).to_contain_text("bug in evalbot")
    grade_by_keys(page, "1")
    assert len(site.grades()) == 1


def test_a_comment_on_a_graded_answer_says_that_it_is_not_in_the_grade(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    grade_by_keys(page, "1")
    told = page.locator("article.answer").first.locator(".changed")
    expect(told).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("c")
    with page.expect_response(lambda response: "predict" in response.url):
        page.keyboard.type("later")
    expect(told).to_be_visible()
    page.reload()
    wait_for_item(page, 0)
    expect(told).to_contain_text("choose the grade again")
    page.locator("article.answer").first.get_by_role("button", name="correct").click()
    wait_until_saved(page)
    expect(told).to_be_hidden()
    assert [one.comment for _, one in site.grades()] == [None, "later"]


SLOW_FIRST_REQUEST = """() => {
  const ask = window.fetch;
  let isFirst = true;
  window.fetch = async (...what) => {
    if (isFirst && String(what[0]).includes("/run/")) {
      isFirst = false;
      await new Promise((go) => setTimeout(go, 1500));
    }
    return ask(...what);
  };
}"""


def test_a_draft_that_is_long_on_its_way_does_not_come_after_a_newer_one(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    page.evaluate(SLOW_FIRST_REQUEST)
    page.keyboard.press("c")
    page.keyboard.type("a")
    page.wait_for_timeout(700)
    page.keyboard.type("bout it")
    page.wait_for_timeout(3_000)
    page.reload()
    wait_for_item(page, 0)
    expect(page.locator("article.answer").first.locator("textarea")).to_have_value("about it")


def test_what_is_typed_while_the_next_item_comes_is_not_about_that(
    served_site: Served, browser: Browser
) -> None:
    site, running = served_site
    site.campaign()
    page = open_page(browser, running, "ann")
    wait_for_item(page, 0)
    grade_by_keys(page, "1", "2")
    page.route("**/run/predict*", lambda _: None)  # under way
    page.keyboard.press("3")
    page.keyboard.press("c")
    page.keyboard.type("about C")
    page.unroute("**/run/predict*")  # what was under way goes on
    after = 0
    while after < 10:
        page.keyboard.type("1")
        page.wait_for_timeout(50)
        after += page.locator(".item[data-item$=':1']").count()
    wait_for_item(page, 1)
    boxes = page.locator("article.answer textarea")
    assert [boxes.nth(n).input_value() for n in range(3)] == ["", "", ""]
    assert [one.verdict for _, one in site.grades()] == ["correct", "acceptable", "wrong"]
    page.wait_for_timeout(1_500)  # until it is heard again, and drafts are saved
    page.keyboard.press("ArrowLeft")
    wait_for_item(page, 0)
    assert "about C" in page.locator("article.answer").nth(2).locator("textarea").input_value()
