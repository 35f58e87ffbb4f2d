"""Rates of recorded runs: layers, staleness, tags, repeats, speed, signatures."""

from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus, Timing
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, NotFoundError
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rate_table import machine_table, people_tables
from evalbot.reporting.rates import rate_rows
from evalbot.store.database import Database, open_database
from tests.building import (
    CASES,
    RUBRIC,
    SUITE,
    add_grades,
    graded,
    record,
    said,
    small_run,
    write_site,
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


ANSWERS = [
    said("door", "a", "请关门。"),
    said("light", "a", "把灯关上"),
    said("rain", "a", "下雨了", status=AnswerStatus.TRUNCATED),
    said("door", "b", "请开门"),
    said("light", "b", "请关灯"),
    said("rain", "b", "下雨了"),
]


def rows_of(
    database: Database, site: Path, layer: Layer = Layer.AUTO, **query: object
) -> dict[str, RateRow]:
    found = rate_rows(database, [], site, RateQuery(layer=layer, **query))  # type: ignore[arg-type]
    return {row.model + (f"/{row.tag}" if row.tag else ""): row for row in found}


@pytest.fixture
def ids(site: Path, database_url: str) -> list[int]:
    with open_database(database_url) as database:
        return record(database, small_run(site, "a", "b"), ANSWERS)


def test_rates_of_the_automatic_layer(site: Path, database_url: str, ids: list[int]) -> None:
    with open_database(database_url) as database:
        rows = rows_of(database, site)
    a, b = rows["a"].rate, rows["b"].rate
    assert (a.n, a.unscored, a.stale, a.rate) == (1, 2, 0, 0)
    assert a.reasons == {"needs_review": 1, "truncated": 1}
    assert (a.rate_min, a.rate_max) == (0, pytest.approx(2 / 3))
    assert (b.n, b.rate) == (3, pytest.approx(1 / 3))
    assert b.counts == {"correct": 2, "acceptable": 0, "wrong": 1}


def test_the_best_model_comes_first_and_one_without_a_rate_last(
    site: Path, database_url: str
) -> None:
    with open_database(database_url) as database:
        record(
            database,
            small_run(site, "none", "bad", "good"),
            [
                said("door", "none", "", status=AnswerStatus.EMPTY),
                said("door", "bad", "请开门"),
                said("door", "good", "请关门"),
            ],
        )
        assert list(rows_of(database, site)) == ["good", "bad", "none"]


def test_an_answer_that_was_never_asked_is_not_graded(site: Path, database_url: str) -> None:
    with open_database(database_url) as database:
        record(database, small_run(site, "a"), ANSWERS[:1])
        rate = rows_of(database, site)["a"].rate
    assert (rate.n, rate.unscored, rate.reasons) == (1, 2, {"not_graded": 2})


def test_layers_are_kept_apart(site: Path, database_url: str, ids: list[int]) -> None:
    with open_database(database_url) as database:
        run = small_run(site, "a", "b")
        add_grades(
            database,
            run,
            [
                (ids[0], graded(run, Layer.JUDGE, "strong", "door", "wrong")),
                (ids[0], graded(run, Layer.HUMAN, "ann", "door", "correct")),
                (ids[0], graded(run, Layer.HUMAN, "bob", "door", "acceptable")),
                (ids[0], graded(run, Layer.ADJUDICATED, "lead", "door", "acceptable")),
            ],
        )
        assert rows_of(database, site)["a"].rate.rate == 0
        assert rows_of(database, site, Layer.JUDGE)["a"].rate.rate == 1
        assert rows_of(database, site, Layer.HUMAN)["a"].rate.reasons == {"tie": 1, "not_graded": 2}
        assert rows_of(database, site, Layer.ADJUDICATED)["a"].rate.rate == 0.5


def test_a_row_per_tag(site: Path, database_url: str, ids: list[int]) -> None:
    with open_database(database_url) as database:
        rows = rows_of(database, site, by_tag=True)
    assert {name: row.rate.n for name, row in rows.items()} == {
        "b/house": 2,
        "a/house": 1,
        "b/weather": 1,
        "a/weather": 0,
    }


def test_a_case_counts_once_whatever_its_repeats(site: Path, database_url: str) -> None:
    with open_database(database_url) as database:
        record(
            database,
            small_run(site, "a", repeats=2),
            [said("door", "a", "请关门"), said("door", "a", "请开门", repeat=2)],
        )
        row = rows_of(database, site)["a"]
    rate = row.rate
    assert (rate.n, rate.unscored, rate.rate) == (1, 2, 0.5)
    assert rate.reasons == {"not_graded": 4}
    [people] = people_tables([row])
    machine = machine_table([row])
    for table, name, value in ((people, "repeats differ", "100.0 %"), (machine, None, "1")):
        title = name or "repeat_change_rate"
        at = [column.title for column in table.columns].index(title)
        assert table.shown_rows()[0][at].startswith(value)


def test_without_repeats_there_is_no_column_for_their_difference(
    site: Path, database_url: str, ids: list[int]
) -> None:
    with open_database(database_url) as database:
        rows = list(rows_of(database, site).values())
    assert all(row.rate.repeat_change is None for row in rows)
    assert "repeats differ" not in [c.title for c in people_tables(rows)[0].columns]


def test_a_changed_reference_makes_grades_of_that_case_stale(
    site: Path, database_url: str, ids: list[int]
) -> None:
    changed = [{**CASES[0], "references": ["请把门关上"]}, *CASES[1:]]
    write_site(site, changed)
    with open_database(database_url) as database:
        rate = rows_of(database, site)["b"].rate
    assert (rate.n, rate.unscored, rate.stale) == (2, 0, 1)


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (("correct: 100", "correct: 90"), {Layer.AUTO}),
        (("instructions: Grade it.", "instructions: Grade it well."), {Layer.JUDGE}),
        (("means: tolerable", "means: passable"), {Layer.JUDGE, Layer.HUMAN}),
        (("credit: 0.5", "credit: 0.25"), {Layer.AUTO, Layer.JUDGE, Layer.HUMAN}),
        (("title: Error rate", "title: Errors"), set()),
        (('version: "1"', 'version: "2"'), set()),
    ],
)
def test_a_changed_rubric_makes_stale_what_rests_on_the_change(
    site: Path, database_url: str, ids: list[int], change: tuple[str, str], stale: set[Layer]
) -> None:
    assert change[0] in RUBRIC
    with open_database(database_url) as database:
        run = small_run(site, "a", "b")
        for layer in (Layer.JUDGE, Layer.HUMAN):
            add_grades(database, run, [(ids[3], graded(run, layer, "g", "door", "wrong"))])
        write_site(site, rubric=RUBRIC.replace(*change))
        for layer in (Layer.AUTO, Layer.JUDGE, Layer.HUMAN):
            assert bool(rows_of(database, site, layer)["b"].rate.stale) is (layer in stale)


@pytest.mark.parametrize("field", ["notes", "source", "tags", "cluster"])
def test_what_changes_no_grade_makes_nothing_stale(
    site: Path, database_url: str, ids: list[int], field: str
) -> None:
    value = ["new"] if field == "tags" else "new"
    write_site(site, [{**case, field: value} for case in CASES])
    with open_database(database_url) as database:
        assert rows_of(database, site)["b"].rate.stale == 0


def test_a_changed_question_leaves_an_older_run_as_it_was(
    site: Path, database_url: str, ids: list[int]
) -> None:
    write_site(site, suite=SUITE + "system: Translate.\n")
    with open_database(database_url) as database:
        rate = rows_of(database, site)["b"].rate
    assert (rate.n, rate.stale) == (3, 0)


def test_a_run_can_be_read_without_its_files(
    site: Path, tmp_path: Path, database_url: str, ids: list[int]
) -> None:
    with open_database(database_url) as database:
        with_files = rows_of(database, site)["b"]
        without = rows_of(database, tmp_path)["b"]
    assert with_files.rate == without.rate
    assert with_files.signature == without.signature


def test_clustered_cases_widen_the_interval_and_say_so(
    site: Path, database_url: str, ids: list[int]
) -> None:
    with open_database(database_url) as database:
        plain = rows_of(database, site)["b"]
        write_site(site, [{**case, "cluster": "one"} for case in CASES])
        clustered = rows_of(database, site)["b"]
    assert plain.rate.high is not None
    assert clustered.rate.high is not None
    assert clustered.rate.high > plain.rate.high
    assert "ci:wilson-frac-clustered" in clustered.signature


def test_speed_stands_beside_quality(site: Path, database_url: str) -> None:
    times = [Timing(ttfot_ms=t, decode_tps=20 + t / 100, source="server") for t in (100, 300, 200)]
    keys = ("door", "light", "rain")
    with open_database(database_url) as database:
        record(
            database,
            small_run(site, "a", "b"),
            [said(key, "a", "x", timing=time) for key, time in zip(keys, times, strict=True)],
        )
        rows = rows_of(database, site)
    assert (rows["a"].speed.ttfot_ms_p50, rows["a"].speed.decode_tps_p50) == (200, 22)
    assert rows["a"].speed.timing_source == "server"
    assert rows["b"].speed.ttfot_ms_p50 is None
    assert rows["b"].speed.timing_source == "none"


def test_the_newest_run_of_a_suite_is_shown(site: Path, database_url: str, ids: list[int]) -> None:
    with open_database(database_url) as database:
        newer = small_run(site, "c", run_id="small-2")
        record(database, newer, [])
        assert list(rows_of(database, site)) == ["c"]


def test_what_is_not_there_is_told(site: Path, database_url: str) -> None:
    with open_database(database_url) as database:
        with pytest.raises(NotFoundError, match="there are no runs yet"):
            rows_of(database, site)
        record(database, small_run(site, "qwen"), [])
        with pytest.raises(NotFoundError, match="did you mean qwen"):
            rows_of(database, site, models=("qwem",))
        with pytest.raises(NotFoundError, match="no run of suite other"):
            rows_of(database, site, suites=("other",))
        with pytest.raises(InputError, match="goes with --layer judge"):
            rows_of(database, site, judge="strong")
