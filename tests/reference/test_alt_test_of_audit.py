"""The published alt-test results, as a user gets them: `import grades`, then `audit`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalbot.domain.cases import Case
from evalbot.domain.rubrics import AutoRule, RateRule, Rubric, ScaleStep
from tests.reference.test_alt_test import PUBLISHED
from tests.transfer.site import Site, make_suite

pytestmark = pytest.mark.reference


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A folder to work in, as a user has it."""
    monkeypatch.chdir(tmp_path)
    return Site(tmp_path, f"sqlite:///{tmp_path}/evalbot.db")


def annotations(path: Path) -> dict[str, dict[str, str]]:
    """Annotator → item → label; `tie` is here the reason for no verdict, and not a verdict."""
    read = json.loads(path.read_text("utf-8"))
    return {
        name: {item: "even" if label == "tie" else label for item, label in own.items()}
        for name, own in read.items()
    }


def bring_in(site: Site, data: str) -> str:
    """The run that the annotations of a data set become: items are cases, labels verdicts."""
    folder = Path(os.environ["EVALBOT_REFERENCE"]) / "agreement" / data
    people = annotations(folder / "human_annotations.json")
    judges = annotations(folder / "llm_annotations.json")
    labels = sorted({one for own in [*people.values(), *judges.values()] for one in own.values()})
    items = list(dict.fromkeys(item for own in people.values() for item in own))
    keys = {item: f"{data}-{number}" for number, item in enumerate(items)}
    site.put_rubric(
        Rubric(
            name=data,
            version="1",
            title=data,
            scale=tuple(ScaleStep(label, None, label) for label in labels),
            rate=RateRule("share", "Share", "higher", dict.fromkeys(labels, 1.0)),
            auto=AutoRule(),
        )
    )
    cases = [Case(key=keys[item], prompt=item) for item in items]
    site.put_suite(make_suite(*cases, name=data, rubric=data))
    rows: list[list[str | int | float | None]] = [
        [data, keys[item], "annotated", layer, grader, label]
        for layer, graders in (("human", people), ("judge", judges))
        for grader, own in graders.items()
        for item, label in own.items()
        if item in keys
    ]
    head: list[str | int | float | None] = ["suite", "case", "model", "layer", "grader", "verdict"]
    [run] = site.ids("import", "grades", site.csv(f"{data}.csv", head, *rows))
    return run


@pytest.mark.parametrize(("data", "epsilon"), [("wax", "0.1"), ("mtbench", "0.2")])
def test_the_audit_has_the_published_winning_rates(site: Site, data: str, epsilon: str) -> None:
    run = bring_in(site, data)
    audit = json.loads(
        "\n".join(site.ids("audit", run, "--alt-test-epsilon", epsilon, "--format", "json"))
    )
    found = {
        judge["name"]: (
            round(judge["alt_test"]["winning_rate"], 2),
            round(judge["alt_test"]["advantage_probability"], 2),
        )
        for judge in audit["judges"]
        if judge["name"] != "panel"
    }
    assert found == PUBLISHED[data]
    assert {judge["alt_test"]["score"] for judge in audit["judges"]} == {"accuracy"}
