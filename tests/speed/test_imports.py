"""Speed results from elsewhere into the record, once each."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from evalbot.domain.runs import RunState
from evalbot.domain.speed import SpeedRow
from evalbot.errors import ProblemsError
from evalbot.speed.imports import ImportedSpeed, ImportKind, Named, import_speed

from .site import SpeedSite

DATA = Path(__file__).parents[1] / "data" / "speed"
ENDINGS = ("json", "jsonl", "csv", "sql", "md")


def bring(
    site: SpeedSite, kind: str, *files: Path, hardware: str | None = None,
    model: str | None = None, label: str | None = None,
) -> list[ImportedSpeed]:  # fmt: skip
    with site.open() as database:
        return import_speed(database, files, ImportKind(kind), Named(hardware, model, label))


def published(site: SpeedSite, name: str) -> Path:
    """One of the four serving benchmarks, as its tool saved it."""
    path = site.folder / f"{name}.json"
    path.write_bytes(gzip.decompress((DATA / f"vllm-{name}.json.gz").read_bytes()))
    return path


def test_all_five_formats_of_llama_bench_give_the_same_tests(any_site: SpeedSite) -> None:
    files = [DATA / f"cpu-two-models.{ending}" for ending in ENDINGS]
    made = bring(any_site, "llama-bench", *files, label="cpu", model="m")
    assert len({one.sweep for one in made}) == 5

    def tests(rows: tuple[SpeedRow, ...]) -> Counter[tuple[object, ...]]:
        return Counter((row.model, row.test, row.prefill_tps_p50 is None,
                        row.decode_tps_p50 is None, str(row.status)) for row in rows)  # fmt: skip

    first, *others = (any_site.rows(one.sweep) for one in made)
    assert len(first) == made[0].new == len(made[0].rows) > 3
    assert all(tests(other) == tests(first) for other in others)
    assert {row.sweep for row in first} == {made[0].sweep}


def test_the_same_file_again_adds_nothing(any_site: SpeedSite) -> None:
    path = DATA / "speed_concurrent.csv"
    [first] = bring(any_site, "table", path)
    before = any_site.rows()
    again = bring(any_site, "table", path, path)
    assert [(one.sweep, one.new, one.file) for one in again] == [(first.sweep, 0, path)] * 2
    assert any_site.rows() == before
    assert len(before) == first.new == 86


def test_under_other_names_it_is_another_import(site: SpeedSite) -> None:
    path = DATA / "cpu-two-models.json"
    made = [
        bring(site, "llama-bench", path, **named)[0]
        for named in ({}, {"label": "x"}, {"hardware": "pc"}, {"model": "y"}, {})
    ]
    assert [bool(one.new) for one in made] == [True, True, True, True, False]
    assert made[0].sweep == made[-1].sweep
    assert len({one.sweep for one in made}) == 4


def test_what_is_said_on_the_command_line_stands_over_the_file(site: SpeedSite) -> None:
    path = DATA / "cpu-two-models.csv"
    [plain] = bring(site, "llama-bench", path)
    [named] = bring(site, "llama-bench", path, hardware="my-pc", model="qwen", label="night")
    rows = site.rows(plain.sweep)
    assert {row.label for row in rows} == {"cpu-two-models"}
    assert len({row.model for row in rows}) == 2
    rows = site.rows(named.sweep)
    assert {(row.label, row.hardware, row.model) for row in rows} == {("night", "my-pc", "qwen")}


def test_a_files_own_label_stands_over_its_name(site: SpeedSite) -> None:
    [made] = bring(site, "table", DATA / "speed_single_stream.csv")
    assert {row.label for row in site.rows(made.sweep)} == {"first", "retest"}
    assert site.sweep(made.sweep).label is None
    [made] = bring(site, "table", DATA / "speed_single_stream.csv", label="published")
    assert {row.label for row in site.rows(made.sweep)} == {"published"}
    assert site.sweep(made.sweep).label == "published"


def test_an_import_is_kept_as_it_was_read(any_site: SpeedSite) -> None:
    """What is made of it is computed when it is shown."""
    [made] = bring(any_site, "table", DATA / "speed_concurrent.csv")
    kept = any_site.sweep(made.sweep)
    assert kept.rows == made.rows
    assert (kept.state, kept.plan, kept.endpoints) == (RunState.IMPORTED, None, ())
    assert {str(row.status) for row in kept.rows} == {"ok", "failed"}
    shown = Counter(str(row.status) for row in any_site.rows(made.sweep))
    assert shown == {"ok": 53, "failed": 14, "collapsed": 9, "suspect": 9, "cached": 1}


def test_a_wrong_file_among_several_changes_nothing(any_site: SpeedSite) -> None:
    good = DATA / "speed_concurrent.csv"
    wrong = any_site.write("wrong.csv", "model,decode_tps_p50\nm,3\nm,fast\n,4\n")
    with pytest.raises(ProblemsError) as caught:
        bring(any_site, "table", good, wrong, any_site.folder / "missing.csv")
    told = str(caught.value)
    assert "wrong.csv:3" in told
    assert '"fast"' in told
    assert "wrong.csv:4" in told
    assert "missing.csv" in told
    assert any_site.rows() == ()


@pytest.mark.parametrize("kind", list(ImportKind))
def test_a_file_of_another_kind_is_refused(kind: ImportKind, site: SpeedSite) -> None:
    other = site.write("notes.txt", "Dear diary\n")
    with pytest.raises(ProblemsError):
        bring(site, kind, other)
    assert site.rows() == ()


def test_four_serving_benchmarks_stand_side_by_side(site: SpeedSite) -> None:
    site.machine("H100", price=30_000, currency="EUR")
    site.machine("2x RTX 5090", price=5718, currency="EUR")
    named = {"h100": "H100", "2x-rtx-5090": "2x RTX 5090", "rtx-4090": "RTX 4090",
             "2x-rtx-4070-ti-super": "2x RTX 4070 TI SUPER"}  # fmt: skip
    for name, hardware in named.items():
        bring(site, "vllm-bench", published(site, name), hardware=hardware, label="published")
    results = site.results()
    assert [round(row.decode_tps_p50 or 0, 3) for row in results.rows] == [
        78.639, 79.514, 43.414, 46.121
    ]  # fmt: skip
    assert [str(row.status) for row in results.rows] == ["ok"] * 4
    comparison = (
        "QwQ-32B-AWQ, serve 0.1 req/s: 2x RTX 5090 costs 19 % of H100 and gives 101 % of its "
        "tokens/s; its first token comes 1.7 times later"
    )
    assert results.notes == ("prices in EUR, as the config says", comparison)
