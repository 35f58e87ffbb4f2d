"""Every command, option, setting and field is in the guide; links lead somewhere."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from evalbot.cli.main import app
from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case, Suite
from evalbot.domain.rubrics import AutoRule, Band, JudgeRule, RateRule, Rubric, ScaleStep
from evalbot.domain.settings import (
    Config,
    Electricity,
    EndpointSettings,
    HardwareSettings,
    JudgeSettings,
)
from evalbot.domain.speed import SpeedRow, SpeedStatus

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs/guide.md").read_text(encoding="utf-8")
SPEED = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", GUIDE, re.M | re.S)
    assert found, title
    return found[1]


def options() -> list[tuple[str, str]]:
    found = []
    root = get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        for path, one in {
            name: command,
            **{f"{name} {inner}": c for inner, c in getattr(command, "commands", {}).items()},
        }.items():
            found += [(path, opt) for param in one.params for opt in param.opts]
    return [(path, option) for path, option in found if option.startswith("--")]


@pytest.mark.parametrize("path", sorted({path for path, _ in options()}))
def test_every_command_is_in_the_guide(path: str) -> None:
    assert f"`evalbot {path}" in section("Commands")


@pytest.mark.parametrize(("path", "option"), options(), ids=" ".join)
def test_every_option_is_in_the_guide(path: str, option: str) -> None:
    if option != "--help":
        assert f"`{option}" in section("Commands") or f" {option}" in section("Commands"), path


@pytest.mark.parametrize(
    ("title", "kind", "unwritten"),
    [
        ("evalbot.yaml", Config, {"folder"}),
        ("evalbot.yaml", EndpointSettings, set()),
        ("evalbot.yaml", JudgeSettings, set()),
        ("evalbot.yaml", HardwareSettings, {"name"}),
        ("evalbot.yaml", Electricity, set()),
        ("Suites and cases", Suite, {"cases"}),
        ("Suites and cases", Case, set()),
        ("Rubrics", Rubric, set()),
        ("Rubrics", ScaleStep, set()),
        ("Rubrics", RateRule, set()),
        ("Rubrics", AutoRule, set()),
        ("Rubrics", Band, set()),
        ("Rubrics", JudgeRule, set()),
    ],
)
def test_every_field_is_in_the_guide(title: str, kind: type, unwritten: set[str]) -> None:
    named = {field.name for field in fields(kind)} - unwritten
    assert {name for name in named if f"`{name}`" not in section(title)} == set()


@pytest.mark.parametrize("name", [field.name for field in fields(SpeedRow)])
def test_every_column_of_speed_is_explained(name: str) -> None:
    named: set[str] = set()
    for cell in re.findall(r"^\| (`[^|]*`) \|", SPEED, re.M):
        stem = ""
        for word in re.findall(r"`([^`]+)`", cell):
            # `ttft_ms_p50`, `_p90`: an ending goes with the name before it.
            named.add(stem + word if word.startswith("_") else word)
            stem = stem if word.startswith("_") else word.removesuffix("_p50")
    assert name in named


@pytest.mark.parametrize("status", list(SpeedStatus))
def test_every_status_of_speed_is_explained(status: SpeedStatus) -> None:
    assert f"`{status}`" in SPEED


def test_every_status_is_explained() -> None:
    assert {s for s in AnswerStatus if f"| `{s}` |" not in section("Statuses and reasons")} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if re.match(r"\w+:", file):
            continue
        path = page.parent / file if file else page
        assert path.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}
            assert anchor in slugs, target
