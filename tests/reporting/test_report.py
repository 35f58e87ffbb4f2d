"""Reports: what is quoted, what is said of it, and that nothing leaves that may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalbot.domain.reviewing import Policy
from evalbot.domain.rubrics import Layer
from evalbot.domain.settings import Config
from evalbot.formats.documents import Document, to_html, to_markdown
from evalbot.reporting.report.report import make_report
from evalbot.store.database import Database, open_database
from tests.auditing.site import audited_site, give
from tests.auditing.test_comparing import judged_run
from tests.auditing.test_corrected import lenient, review_all, truth

COUNT = 40


@pytest.fixture
def database(database_url: str) -> object:
    with open_database(database_url) as opened:
        yield opened


def report(database: Database, folder: Path, *runs: str, **more: str) -> Document:
    return make_report(database, Config(folder=folder), runs, **more)


def headings(document: Document) -> list[str]:
    return [section.heading for section in document.sections]


def test_without_any_grades_of_judges_or_people_the_rate_is_automatic(
    database: Database, tmp_path: Path
) -> None:
    audited_site(database, tmp_path, COUNT)
    found = report(database, tmp_path)
    text = to_markdown(found)
    assert "auto layer" in found.lead[0].text
    assert "Is the judge right?" not in headings(found)
    assert "no judge's and no person's grades stand behind this rate" in text
    assert "How to check this report" in headings(found)


def test_a_judge_that_nobody_checked_is_said_to_be_that(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    found = report(database, tmp_path)
    assert "judge layer" in found.lead[0].text
    assert "Nobody has checked them: its errors are not known." in to_markdown(found)


def test_corrected_rates_are_quoted_where_they_are_there(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    found = report(database, tmp_path)
    assert "corrected layer" in found.lead[0].text
    text = to_markdown(found)
    for part in ("The models and their settings", "What the verdicts mean", "Results", "Speed",
                 "What the data can tell apart", "Is the judge right?", "Limits"):  # fmt: skip
        assert part in headings(found)
    assert "|drawn:random/" in text
    assert re.search(r"Judge strong, on \d+ answers that people graded", text)
    assert "The order was tested on the judge's own verdicts" in text
    assert "None of the 3 pairs of models can be told apart by these cases" in text


def test_peoples_grades_are_quoted_where_they_are_nearly_whole(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    give(site, Layer.HUMAN, "ann", truth)
    assert "human layer" in report(database, tmp_path).lead[0].text


def test_title_and_foreword_are_the_leads_own(database: Database, tmp_path: Path) -> None:
    audited_site(database, tmp_path, 3)
    found = report(database, tmp_path, title="Mine", foreword="First.\n\n- a\n- b")
    page = to_html(found)
    assert "<title>Mine</title>" in page
    assert page.index("<p>First.</p>") < page.index("<nav>")


def test_a_whole_book_as_a_prompt_is_cut(database: Database, tmp_path: Path) -> None:
    audited_site(database, tmp_path, 3, extra={"prompt": "long " * 100_000})
    assert len(to_markdown(report(database, tmp_path))) < 50_000


def test_reports_name_no_reviewer_and_no_path(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    for name in ("ann-of-reviewers", "bob-of-reviewers"):
        give(site, Layer.HUMAN, name, truth)
    text = to_markdown(report(database, tmp_path)) + to_html(report(database, tmp_path))
    assert "of-reviewers" not in text
    assert str(tmp_path) not in text


def test_the_same_record_makes_the_same_report(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.JUDGE, "strong", lenient)
    assert to_html(report(database, tmp_path)) == to_html(report(database, tmp_path))


def test_several_suites_stand_one_after_another(database: Database, tmp_path: Path) -> None:
    audited_site(database, tmp_path, 3)
    audited_site(database, tmp_path, 4, run_id="small-2")
    found = report(database, tmp_path, "small-1", "small-2")
    assert len(found.lead) == 2
    assert headings(found).count("Results") == 2


def test_a_best_rate_over_easier_cases_is_told_beside_who_did_better_on_the_same(
    database: Database, tmp_path: Path
) -> None:
    a = [None] * 20 + ["correct"] * 14 + ["wrong"] * 26
    judged_run(database, tmp_path, {"a": a, "b": ["correct"] * 24 + ["wrong"] * 36})
    found = report(database, tmp_path)
    assert "Lowest error rate: b, 60.0 %" in found.lead[0].text
    told = "On the cases that both have a verdict on, a did better than b."
    assert found.lead[0].text.endswith(told)
    assert "- a before b" in to_markdown(found)
