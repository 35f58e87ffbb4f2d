"""compare, audit, plan and report as commands: formats, files, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from evalbot.domain.reviewing import Policy
from evalbot.domain.rubrics import Layer
from evalbot.store.database import open_database
from tests.auditing.site import audited_site, give
from tests.auditing.test_corrected import lenient, review_all
from tests.cli.calling import evalbot


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A judged run of which people have graded a drawn sample."""
    with open_database("sqlite:///evalbot.db", tmp_path) as database:
        reviewed = audited_site(database, tmp_path, 40)
        give(reviewed, Layer.JUDGE, "strong", lenient)
        reviewed.campaign(policy=Policy.RANDOM, budget=60)
        review_all(reviewed)
    return tmp_path


def test_compare_prints_tables_and_an_object(site: Path) -> None:
    shown = evalbot("compare", "small", "--judge", "strong", "--format", "md", folder=site)
    assert shown.returncode == 0, shown.stderr
    assert "told apart?" in shown.stdout
    assert "probability of each rank" in shown.stdout
    found = json.loads(evalbot("compare", "small-1", "--format", "json", folder=site).stdout)
    assert len(found["pairs"]) == 3
    piped = evalbot("compare", "small-1", folder=site).stdout
    assert [row["a"] for row in csv.DictReader(io.StringIO(piped))] == ["zebra", "zebra", "okapi"]


def test_audit_writes_json_html_and_markdown(site: Path) -> None:
    found = json.loads(evalbot("audit", "small-1", folder=site).stdout)
    assert found["judges"][0]["name"] == "strong"
    written = evalbot("audit", "small-1", "--output", "audit.html", folder=site)
    assert written.returncode == 0, written.stderr
    page = (site / "audit.html").read_text(encoding="utf-8")
    assert "judges against people" in page
    shown = evalbot("audit", "small-1", "--format", "md", folder=site)
    assert "leniency" in shown.stdout


def test_corrected_rates_stand_beside_the_judges(site: Path) -> None:
    piped = evalbot("rates", "--layer", "corrected", folder=site).stdout
    rows = list(csv.DictReader(io.StringIO(piped.removeprefix("\ufeff"))))
    assert len(rows) == 3
    for row in rows:
        assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
        assert (row["human_n"], row["policy"], row["interval"]) == ("20", "random", "mover")


def test_plan_tells_widths_before_anyone_grades(site: Path) -> None:
    found = json.loads(
        evalbot("plan", "small-1", "--budget", "30", "--format", "json", folder=site).stdout
    )
    assert found["budget"] == 30
    for model in found["models"]:
        assert 0 < model["planned"]["random"]["width"] < model["width"]
    shown = evalbot("plan", "small-1", "--format", "md", folder=site).stdout
    assert "extend it instead" in shown


def test_a_report_is_one_file_that_loads_nothing(site: Path) -> None:
    (site / "words.txt").write_text("Mine.", encoding="utf-8")
    done = evalbot("report", "--foreword", "words.txt", "--output", "r.html", folder=site)
    assert done.returncode == 0, done.stderr
    page = (site / "r.html").read_text(encoding="utf-8")
    assert "<p>Mine.</p>" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert evalbot("report", "--format", "md", folder=site).stdout.startswith("# Language models")


def test_a_run_that_is_named_twice_is_told_of_once(site: Path) -> None:
    once = evalbot("report", "small-1", "--format", "md", folder=site)
    assert once.returncode == 0, once.stderr
    twice = evalbot("report", "small", "small-1", "--format", "md", folder=site)
    assert twice.stdout == once.stdout


def test_a_title_that_is_no_text_does_not_stop_a_report(site: Path) -> None:
    """What a shell hands over need not be UTF-8."""
    done = evalbot("report", "--title", "A\udcffB", "--format", "md", folder=site)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# A\ufffdB\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "small-1", "--layer", "corrected"),
        ("compare", "small-1", "--judge", "weak"),
        ("compare", "small-1", "small-1"),
        ("compare", "small", "small-1"),
        ("compare", "no-such-run"),
        ("rates", "small-1", "--layer", "corrected", "--judge", "strong#1"),
        ("audit", "small-1", "--format", "csv"),
        ("audit", "small-1", "--alt-test-score", "luck"),
        ("audit", "small-1", "--alt-test-epsilon", "1"),
        ("audit", "small-1", "--wished-error", "-1"),
        ("audit", "no-such-run"),
        ("plan", "small-1", "--budget", "0"),
        ("plan", "small-1", "--compare", "zebra"),
        ("report", "--foreword", "none.txt"),
        ("report", "--format", "pdf"),
        ("report", "no-such-run"),
    ],
    ids=" ".join,
)
def test_wrong_requests_exit_with_two_and_one_sentence(
    site: Path, arguments: tuple[str, ...]
) -> None:
    done = evalbot(*arguments, folder=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evalbot: ")
    assert len(done.stderr.splitlines()) == 1
