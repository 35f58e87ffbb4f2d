"""The answers that people gave one verdict and a judge another, as the audit counts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.auditing.audit import audit
from evalbot.domain.rubrics import Layer
from evalbot.errors import NotFoundError
from evalbot.reporting.behind_audit import (
    PAGE,
    BehindCell,
    VerdictCell,
    answer_behind,
    answers_behind_cell,
)
from evalbot.store.database import Database, open_database
from tests.auditing.site import audited_site, give
from tests.reviewing.site import VERDICTS

CORRECT, ACCEPTABLE, WRONG = VERDICTS


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as opened:
        yield opened


def places(found: BehindCell) -> list[tuple[str, str, str]]:
    return [
        (run, one.recorded.place.case, one.recorded.place.endpoint) for run, one in found.answers
    ]


def test_every_cell_holds_the_answers_that_the_audit_counts(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path)
    give(site, Layer.JUDGE, "strong", lambda model, number: VERDICTS[(number + len(model)) % 3])
    give(site, Layer.JUDGE, "second", lambda *_: WRONG)
    give(site, Layer.HUMAN, "ann", lambda _, number: VERDICTS[number % 3 or 1])
    give(site, Layer.HUMAN, "bob", lambda _, number: WRONG if number % 4 == 0 else None)
    for judge in audit(database, [site.run.id], tmp_path).judges:
        for human, counts in zip(judge.confusion.labels, judge.confusion.counts, strict=True):
            for said, number in zip(judge.confusion.labels, counts, strict=True):
                cell = VerdictCell((site.run.id,), judge.name, human, said)
                found = answers_behind_cell(database, tmp_path, cell)
                assert (found.n, len(found.answers)) == (number, min(number, PAGE))
                assert all(one.said.verdict == said for _, one in found.answers)


def test_pages_follow_one_another_by_run_case_and_model(database: Database, tmp_path: Path) -> None:
    second = audited_site(database, tmp_path, 10, run_id="small-2")
    first = audited_site(database, tmp_path, 10)
    for site in (first, second):
        give(site, Layer.JUDGE, "strong", lambda *_: CORRECT)
        give(site, Layer.HUMAN, "ann", lambda model, _: WRONG if model != "okapi" else CORRECT)
    cell = VerdictCell(("small-1", "small-2"), "strong", WRONG, CORRECT)
    start: int | None = 0
    seen: list[tuple[str, str, str]] = []
    pages = 0
    while start is not None:
        found = answers_behind_cell(database, tmp_path, cell, start)
        seen += places(found)
        pages += 1
        start = found.following
    assert pages == 2
    assert seen == [
        (run, f"c{number}", model)
        for run in ("small-1", "small-2")
        for number in range(10)
        for model in ("zebra", "quagga")
    ]


def test_an_answer_comes_with_its_case_and_all_its_grades(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 2)
    give(site, Layer.HUMAN, "ann", lambda *_: WRONG)
    give(site, Layer.HUMAN, "ann", lambda *_: CORRECT)
    seen = answer_behind(database, tmp_path, "small-1", site.answers["c1", "okapi"])
    assert (seen.case.key, seen.recorded.answer.text) == ("c1", "答案1吧")
    assert [(one.grade.layer, one.is_replaced) for one in seen.grades] == [
        ("auto", False), ("human", True), ("human", False),
    ]  # fmt: skip


def test_an_answer_of_another_run_is_not_found(database: Database, tmp_path: Path) -> None:
    audited_site(database, tmp_path, 1)
    other = audited_site(database, tmp_path, 1, run_id="small-2")
    with pytest.raises(NotFoundError, match="no such answer in run small-1"):
        answer_behind(database, tmp_path, "small-1", other.answers["c0", "okapi"])
