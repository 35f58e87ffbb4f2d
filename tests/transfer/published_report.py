"""The example report in docs/examples, from the verdict counts of a published comparison:

    python -m tests.transfer.published_report docs/examples

Everything goes as it does for a user: suites, `import grades`, `report`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from evalbot.auditing.pairs import ALPHA
from evalbot.domain.cases import Case
from evalbot.formats.catalogue import find_rubric, shipped_folder
from evalbot.formats.rubrics import read_rubric
from evalbot.stats.paired import holm, sign_flip
from tests.transfer.site import Site, make_suite
from tests.transfer.test_published_rates import RATES, Published, published

TITLE = "A published comparison of six local models, looked at again"
DESCRIPTION = (
    "Only the counts of verdicts were published, not which case got which. Here the same cases "
    "are right for every model, as far as the counts allow: the pairing in which differences "
    "show most easily."
)
INTRODUCTION = """\
An enthusiast compared six models on two machines and published, for each of four suites, how \
many answers were good, middling and bad. This report takes those counts into evalbot and asks \
which of the published rankings they support.

The exact paired test needs to know which case got which verdict, and that was not published. So \
each pair of models was tested in the two extremes that the counts leave open. In the first, both \
models are right on the same cases as far as possible, so that few cases differ and a difference \
shows most easily: of 18,000 pairings drawn at random none had a smaller p. In the second, they \
are right on different cases as far as possible, which hides a difference nearly as well as can \
be. What the first does not support, no pairing does. The tables below are the first extreme: \
read each "yes" in them as "possible".
"""


def weights_of(line: Published) -> list[float]:
    """The weights of a model's verdicts, best to worst."""
    _, weights = RATES[line.rate_name]
    return [weight for weight, n in zip(weights, line.counts, strict=True) for _ in range(n)]


def supported(lines: list[Published], *, easily: bool) -> list[tuple[str, str]]:
    """Pairs that can be told apart, better one first; easily: right on the same cases."""
    pairs = list(combinations(lines, 2))
    tests = [
        sign_flip(
            [
                a - b
                for a, b in zip(
                    weights_of(one), weights_of(other)[:: 1 if easily else -1], strict=True
                )
            ]
        )
        for one, other in pairs
    ]
    adjusted = holm([test.p for test in tests if test is not None])
    lower = RATES[lines[0].rate_name][0] == "lower"
    found = []
    for (one, other), p in zip(pairs, adjusted, strict=True):
        if p <= ALPHA:
            first_is_better = (sum(weights_of(one)) < sum(weights_of(other))) == lower
            better, worse = (one, other) if first_is_better else (other, one)
            found.append((better.model, worse.model))
    return found


def foreword() -> str:
    """What the counts support, suite by suite."""
    parts = [INTRODUCTION, "What the counts support, of 15 pairs in each suite:"]
    points = []
    for suite in dict.fromkeys(line.suite for line in published()):
        lines = [line for line in published() if line.suite == suite]
        possible, certain = supported(lines, easily=True), supported(lines, easily=False)
        told = f"{suite} ({lines[0].n} cases): {len(certain)} pairs hold in both extremes"
        if possible:
            better = dict.fromkeys(name for name, _ in possible)
            over = "; ".join(
                f"{name} over {', '.join(worse for one, worse in possible if one == name)}"
                for name in better
            )
            told += f"; {len(possible)} are possible: {over}"
        else:
            told += ", and none is possible: no order of these models is supported by so few cases"
        points.append(f"- {told}.")
    parts.append("\n".join(points))
    parts.append(
        "So of the published rankings none is secured by what was published, and for code and "
        "proofreading none can be right beyond chance. For translation and hallucination the "
        "clearest gaps may be real; the verdicts case by case would tell. That is why evalbot "
        "stores and exports them."
    )
    return "\n\n".join(parts)


def bring_in(site: Site) -> list[str]:
    """The runs that the counts become, one a suite, graded by the shipped rubrics' words."""
    lines = list(published())
    rows: list[list[str | int | float | None]] = [
        ["suite", "case", "model", "layer", "grader", "verdict"]
    ]
    for suite in dict.fromkeys(line.suite for line in lines):
        own = [line for line in lines if line.suite == suite]
        rubric = read_rubric(find_rubric(suite, shipped_folder()))
        cases = [Case(key=f"c{at:03}", prompt="(not published)") for at in range(1, own[0].n + 1)]
        made = make_suite(*cases, name=suite, rubric=rubric.name)
        site.put_suite(replace(made, title=suite.capitalize(), description=DESCRIPTION))
        for line in own:
            words = [
                word for word, n in zip(rubric.verdicts, line.counts, strict=True) for _ in range(n)
            ]
            rows += [
                [suite, case.key, line.model, "human", "author", word]
                for case, word in zip(cases, words, strict=True)
            ]
    return site.ids("import", "grades", site.csv("verdicts.csv", *rows), "--label", "published")


def make_report(folder: Path) -> None:
    """Write published-comparison.html and .md into a folder."""
    target = folder.resolve()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        try:
            site = Site(Path(home), f"sqlite:///{home}/evalbot.db")
            runs = bring_in(site)
            words = site.write("foreword.txt", foreword())
            for ending in ("html", "md"):
                output = str(target / f"published-comparison.{ending}")
                site.ids("report", *runs, "--title", TITLE, "--foreword", words, "-o", output)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    make_report(Path(sys.argv[1]))
