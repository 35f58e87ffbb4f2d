"""Scoring stored answers again, by today's files."""

from pathlib import Path

from evalbot.domain.runs import StoredGrade
from evalbot.grading.rescore import rescore
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.rates import rate_rows
from evalbot.store.database import open_database
from evalbot.store.grades import read_grades
from tests.building import CASES, SUITE, record, said, small_run, write_site

ANSWERS = [said("door", "a", "请把门关上"), said("light", "a", "请关灯"), said("rain", "a", "雪")]


def grades(url: str) -> list[StoredGrade]:
    with open_database(url) as database, database.read() as connection:
        return list(read_grades(connection, "small-1"))


def test_a_new_reference_changes_the_verdict_and_keeps_the_old_grade(
    tmp_path: Path, database_url: str
) -> None:
    site = write_site(tmp_path)
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS)
        write_site(site, [{**CASES[0], "references": ["请把门关上"]}, *CASES[1:]])
        done = rescore(database, "small-1", site)
        [row] = rate_rows(database, ["small-1"], site, RateQuery())
    assert (done.answers, done.written, done.changed) == (3, 1, 1)
    assert (row.rate.n, row.rate.stale) == (2, 0)
    door = [one.grade for one in grades(database_url) if one.place.case == "door"]
    assert [one.verdict for one in door] == [None, "correct"]
    assert [one.unscored_reason for one in door] == ["needs_review", None]


def test_scoring_twice_writes_nothing_new(tmp_path: Path, database_url: str) -> None:
    site = write_site(tmp_path)
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS)
        assert rescore(database, "small-1", site).written == 0
    assert len(grades(database_url)) == len(ANSWERS)


def test_a_case_whose_question_changed_keeps_its_recorded_text(
    tmp_path: Path, database_url: str
) -> None:
    site = write_site(tmp_path)
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS)
        write_site(site, [{**CASES[0], "prompt": "窓を閉めて", "references": ["雪"]}, *CASES[1:]])
        done = rescore(database, "small-1", site)
    assert done.basis.changed == ("door",)
    assert done.written == 0


def test_a_new_system_text_changes_every_question(tmp_path: Path, database_url: str) -> None:
    site = write_site(tmp_path)
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS)
        write_site(site, suite=SUITE + "system: Translate.\n")
        assert len(rescore(database, "small-1", site).basis.changed) == len(CASES)


def test_the_new_texts_are_what_a_run_is_read_by_afterwards(
    tmp_path: Path, database_url: str
) -> None:
    site = write_site(tmp_path / "site")
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS)
        write_site(site, [{**CASES[0], "references": ["请把门关上"]}, *CASES[1:]])
        rescore(database, "small-1", site)
        [row] = rate_rows(database, ["small-1"], tmp_path / "elsewhere", RateQuery())
    assert (row.rate.n, row.rate.stale) == (2, 0)
