from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.reporting.behind import PAGE, Behind, Cell, Counted, answers_behind
from evalbot.reporting.failures import run_outcome
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.rates import rate_rows
from evalbot.store.database import Database, open_database
from tests.building import add_grades, graded, record, said, small_run, write_site


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as opened:
        yield opened


def places(behind: Behind) -> list[tuple[str, int]]:
    found = [one.recorded.place for one in behind.answers]
    return [(place.case, place.repeat) for place in found]


def behind(
    database: Database, run: Run, folder: Path, counted: Counted, verdict: str | None = None,
    model: str = "qwen", layer: Layer = Layer.AUTO, judge: str | None = None,
    tag: str | None = None,
) -> list[tuple[str, int]]:  # fmt: skip
    cell = Cell(run.id, model, counted, verdict, layer, judge, tag)
    return places(answers_behind(database, folder, cell))


def test_every_cell_opens_what_it_counts(database: Database, tmp_path: Path) -> None:
    run = small_run(write_site(tmp_path), "qwen", "gemma", repeats=2)
    record(
        database,
        run,
        [
            said("rain", "qwen", "下雨了"),
            said("door", "qwen", "请开门"),
            said("door", "qwen", "请关门", repeat=2),
            said("light", "qwen", "别的"),
            said("light", "qwen", "", repeat=2, status=AnswerStatus.TIMEOUT),
            said("door", "gemma", "请关门"),
        ],
    )
    [row, _] = rate_rows(database, [run.id], tmp_path, RateQuery(models=("qwen", "gemma")))[::-1]
    assert row.model == "qwen"
    assert row.rate.counts == {"correct": 2, "acceptable": 0, "wrong": 1}
    counted = Counted.VERDICT
    assert behind(database, run, tmp_path, counted, "correct") == [("door", 2), ("rain", 1)]
    assert behind(database, run, tmp_path, counted, "wrong") == [("door", 1)]
    assert behind(database, run, tmp_path, counted, "acceptable") == []
    assert behind(database, run, tmp_path, Counted.SCORED) == [
        ("door", 1),
        ("door", 2),
        ("rain", 1),
    ]
    assert behind(database, run, tmp_path, Counted.UNSCORED) == [("light", 1), ("light", 2)]
    assert behind(database, run, tmp_path, Counted.SCORED, tag="weather") == [("rain", 1)]
    assert behind(database, run, tmp_path, Counted.SCORED, model="gemma") == [("door", 1)]


def test_layers_are_told_apart_and_all_grades_are_shown(database: Database, tmp_path: Path) -> None:
    run = small_run(write_site(tmp_path), "qwen")
    door, light, rain = record(
        database,
        run,
        [
            said("door", "qwen", "关门"),
            said("light", "qwen", "关灯"),
            said("rain", "qwen", "", status=AnswerStatus.HTTP),
        ],
    )
    stale = replace(run, rubric=replace(run.rubric, scale=run.rubric.scale[:2]))
    add_grades(
        database,
        run,
        [
            (door, graded(run, Layer.JUDGE, "strong", "door", "wrong")),
            (door, graded(run, Layer.JUDGE, "strong", "door", "correct")),
            (door, graded(run, Layer.JUDGE, "other", "door", "wrong")),
            (light, graded(run, Layer.HUMAN, "ann", "light", "acceptable")),
        ],
    )
    add_grades(database, stale, [(light, graded(stale, Layer.JUDGE, "strong", "light", "correct"))])
    judge = Layer.JUDGE
    assert behind(database, run, tmp_path, Counted.UNSCORED, layer=judge) == [
        ("door", 1),
        ("rain", 1),
    ]
    assert behind(database, run, tmp_path, Counted.STALE, layer=judge) == [("light", 1)]
    assert behind(
        database, run, tmp_path, Counted.VERDICT, "correct", layer=judge, judge="strong"
    ) == [("door", 1)]
    assert behind(database, run, tmp_path, Counted.VERDICT, "acceptable", layer=Layer.HUMAN) == [
        ("light", 1)
    ]
    assert rain

    cell = Cell(run.id, "qwen", Counted.UNSCORED, layer=judge)
    first = answers_behind(database, tmp_path, cell).answers[0]
    assert first.said.reason == "tie"
    assert [(one.grade.grader, one.is_replaced) for one in first.grades] == [
        ("auto", False),
        ("strong", True),
        ("strong", False),
        ("other", False),
    ]
    assert first.conversation[-1].content == "ドアを閉めて"
    assert first.chrf is not None


def test_pages_follow_one_another_without_gap_or_overlap(
    database: Database, tmp_path: Path
) -> None:
    cases = [{"key": f"c{i:04}", "prompt": "x", "references": ["yes"]} for i in range(1000)]
    run = small_run(write_site(tmp_path, cases), "qwen")
    texts = ["yes" if i % 20 == 0 else "no" for i in range(1000)]
    record(database, run, [said(f"c{i:04}", "qwen", text) for i, text in enumerate(texts)])
    cell = Cell(run.id, "qwen", Counted.VERDICT, "correct")
    start: int | None = 0
    pages = []
    while start is not None:
        page = answers_behind(database, tmp_path, cell, start)
        pages.append([case for case, _ in places(page)])
        start = page.following
    assert [len(page) for page in pages] == [PAGE, PAGE, 10]
    assert [case for together in pages for case in together] == [
        f"c{i:04}" for i in range(0, 1000, 20)
    ]


def test_failures_come_by_kind_and_wording(database: Database, tmp_path: Path) -> None:
    run = small_run(write_site(tmp_path), "qwen", "gemma", repeats=3)

    def failed(model: str, case: str, repeat: int, status: AnswerStatus, why: str) -> object:
        one = said(case, model, "", repeat=repeat, status=status)
        return replace(one, answer=replace(one.answer, error_detail=why))

    http = AnswerStatus.HTTP
    record(
        database,
        run,
        [
            *(failed("qwen", case, n, http, "busy") for case in ("door", "rain") for n in (1, 2)),
            failed("qwen", "light", 1, http, "gone"),
            failed("gemma", "light", 1, http, "busy"),
            failed("gemma", "door", 1, AnswerStatus.EMPTY, ""),
            said("rain", "gemma", "下雨了"),
        ],  # type: ignore[list-item]
    )
    outcome = run_outcome(database, run.id)
    assert (outcome.answers, outcome.ok, outcome.retryable) == (8, 1, 6)
    assert [(kind.status, kind.count) for kind in outcome.failures] == [
        (http, 6),
        (AnswerStatus.EMPTY, 1),
    ]
    wordings = outcome.failures[0].wordings
    assert [(one.endpoint, one.words, one.count) for one in wordings] == [
        ("qwen", "busy", 4),
        ("qwen", "gone", 1),
        ("gemma", "busy", 1),
    ]
    assert [(place.case, place.repeat) for place in wordings[0].examples] == [
        ("door", 1),
        ("door", 2),
        ("rain", 1),
    ]
