"""Judge, people and the corrected rate side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.domain.reviewing import Layout, Policy
from evalbot.domain.rubrics import Layer
from evalbot.reporting.truth_table import chart_rows, truth_table, truths_of
from evalbot.store.database import Database, open_database
from tests.auditing.site import MODELS, audited_site, give
from tests.reviewing.site import VERDICTS

COUNT = 40


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as opened:
        yield opened


def lenient(_model: str, number: int) -> str:
    return VERDICTS[max(0, number % 3 - (number % 5 == 0))]


def test_a_drawn_review_gives_three_rates_with_intervals(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=60, layout=Layout.SINGLE)
    while (item := site.item("ann")) is not None:
        site.grade_item("ann", VERDICTS[int(item.case.key[1:]) % 3])
    found = truths_of(database, tmp_path, "small-1", "strong")
    table = truth_table(found)
    assert [column.name for column in table.columns] == [
        "model", "judge_rate", "judge_interval", "judge_n", "human_rate", "human_interval",
        "human_n", "corrected", "corrected_interval", "method",
    ]  # fmt: skip
    own = sum((0, 0.5, 1)[VERDICTS.index(lenient("", n))] for n in range(COUNT)) / COUNT
    assert {row[0] for row in table.rows} == set(MODELS)
    for row in table.rows:
        assert (row[1], row[3], row[9]) == (pytest.approx(own), COUNT, "mover")
        assert None not in row
    assert sum(int(row[6] or 0) for row in table.rows) == 60
    assert "what people graded was drawn by: random" in table.notes
    assert [row.layer for row in chart_rows(found)] == [
        *["judge"] * 3, *["human"] * 3, *["corrected"] * 3
    ]  # fmt: skip


def test_a_refused_correction_leaves_the_others_and_says_why(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    give(site, Layer.HUMAN, "ann", lambda _, n: VERDICTS[n % 3] if n < 6 else None)
    table = truth_table(truths_of(database, tmp_path, "small-1", "strong"))
    for row in table.rows:
        assert (row[4], row[6], row[7], row[8]) == (0.5, 6, None, None)
        assert row[5] is not None
    [why] = [note for note in table.notes if "no corrected rate" in note]
    assert "picked freely or imported" in why
