"""The rates of a published comparison, from its verdicts, through the real command line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evalbot.domain.cases import Case
from evalbot.formats.catalogue import find_rubric, shipped_folder
from evalbot.formats.rubrics import read_rubric
from evalbot.stats.rounding import half_up

from .site import Site, make_rubric, make_suite

COUNTS = Path(__file__).parents[1] / "data" / "verdict_counts.csv"
SCALE = ("best", "middle", "worst")
RATES = {
    "mistranslation_rate": ("lower", (0.0, 0.0, 1.0)),
    "hallucination_rate": ("lower", (0.0, 0.5, 1.0)),
    "pass_rate": ("higher", (1.0, 0.5, 0.0)),
    "quality_score": ("higher", (1.0, 0.5, 0.0)),
}
SHOWN = [
    ("translation", "Qwen3.6-35B-A3B Q8_0", "35.6 %"),
    ("hallucination", "gpt-oss-120b MXFP4", "56.3 %"),
    ("hallucination", "Llama-3.3-70B Q6_K", "75.0 %"),
    ("proofreading", "Qwen3.6-35B-A3B Q8_0", "100.0 %"),
]


class Published(NamedTuple):
    """A line of the published table."""

    suite: str
    model: str
    counts: tuple[int, ...]
    n: int
    rate_name: str
    percent: str


def published() -> Iterator[Published]:
    with COUNTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            counts = tuple(int(row[word]) for word in SCALE)
            yield Published(
                row["suite"], row["model"], counts, int(row["n"]), row["rate_name"],
                row["published_percent"],
            )  # fmt: skip


@pytest.fixture
def imported(site: Site) -> Site:
    """A site with four suites and their verdicts, one row a verdict."""
    sizes = {line.suite: (line.n, line.rate_name) for line in published()}
    for name, (n, rate) in sizes.items():
        direction, weights = RATES[rate]
        site.put_rubric(
            make_rubric(
                name,
                rate=rate,
                direction=direction,
                weights=dict(zip(SCALE, weights, strict=True)),
            )
        )
        cases = (Case(key=f"c{at:03}", prompt=f"case {at}") for at in range(1, n + 1))
        site.put_suite(make_suite(*cases, name=name, rubric=name))
    rows: list[list[str | int | float | None]] = [
        ["suite", "case", "model", "layer", "grader", "verdict"]
    ]
    for line in published():
        words = [word for word, n in zip(SCALE, line.counts, strict=True) for _ in range(n)]
        rows += [
            [line.suite, f"c{at:03}", line.model, "human", "author", word]
            for at, word in enumerate(words, start=1)
        ]
    site.csv("verdicts.csv", *rows)
    assert len(site.ids("import", "grades", "verdicts.csv", "--label", "published")) == 4
    return site


def test_all_published_percentages_come_out(imported: Site) -> None:
    rates = {(row["suite"], row["model"]): row for row in imported.rates("--layer", "human")}
    assert len(rates) == 24
    for line in published():
        row = rates[line.suite, line.model]
        digits = len(line.percent.partition(".")[2])
        assert half_up(row["rate"] * 100, digits) == line.percent, line
        assert (row["n"], row["unscored"], row["stale"]) == (line.n, 0, 0)
        assert tuple(row[f"count_{word}"] for word in SCALE) == line.counts
        assert row["rate_name"] == line.rate_name
        assert row["low"] <= row["rate"] <= row["high"]


@pytest.mark.parametrize("layer", ["human", "judge"])
def test_the_shipped_rubrics_give_them_too(site: Site, layer: str) -> None:
    """Their own words in place of best, middle and worst; by a person or by a judge."""
    shipped = {
        name: read_rubric(find_rubric(name, shipped_folder()))
        for name in ("code", "hallucination", "proofreading", "translation")
    }
    lines = [line for line in published() if line.suite in shipped]
    for name, rubric in shipped.items():
        n = next(line.n for line in lines if line.suite == name)
        cases = (Case(key=f"c{at:03}", prompt=f"case {at}") for at in range(1, n + 1))
        site.put_suite(make_suite(*cases, name=name, rubric=rubric.name))
    rows: list[list[str | int | float | None]] = [
        ["suite", "case", "model", "layer", "grader", "verdict"]
    ]
    for line in lines:
        scale = shipped[line.suite].verdicts
        words = [word for word, n in zip(scale, line.counts, strict=True) for _ in range(n)]
        rows += [
            [line.suite, f"c{at:03}", line.model, layer, "strong", word]
            for at, word in enumerate(words, start=1)
        ]
    site.csv("verdicts.csv", *rows)
    assert len(site.ids("import", "grades", "verdicts.csv")) == 4
    rates = {(row["suite"], row["model"]): row for row in site.rates("--layer", layer)}
    assert len(rates) == 24
    for line in lines:
        row = rates[line.suite, line.model]
        digits = len(line.percent.partition(".")[2])
        assert half_up(row["rate"] * 100, digits) == line.percent, line
        assert (row["rate_name"], row["n"], row["unscored"]) == (line.rate_name, line.n, 0)
        if layer == "judge":
            assert "|judge:majority|judges:strong/unknown|judged:all|" in row["signature"]


def test_readers_see_the_same_percentages(imported: Site) -> None:
    for suite, model, percent in SHOWN:
        result = imported.call("rates", "--layer", "human", "--suite", suite, "--format", "md")
        [line] = [line for line in result.stdout.splitlines() if f"| {model} " in line]
        assert re.search(rf"\| +{re.escape(percent)} +\|", line), line


def test_the_automatic_layer_says_that_it_has_no_verdict(imported: Site) -> None:
    rows = json.loads(imported.call("rates", "--format", "json").stdout)
    assert {(row["rate"], row["n"]) for row in rows} == {(None, 0)}
    assert all(row["unscored"] for row in rows)
