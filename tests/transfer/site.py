"""A folder with suites, rubrics and a database, and the command line run in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evalbot.cli.main import app
from evalbot.domain.cases import Case, Suite, Task
from evalbot.domain.rubrics import AutoRule, Band, RateRule, Rubric, ScaleStep, ScorerName
from evalbot.domain.settings import Config
from evalbot.errors import EvalbotError
from evalbot.formats.cells import BOM, write_csv
from evalbot.formats.rubrics import write_rubric
from evalbot.formats.suites import write_suite

WEIGHTS = {"best": 0.0, "middle": 0.0, "worst": 1.0}


@dataclass(frozen=True)
class Site:
    """The folder the commands run in."""

    folder: Path
    database: str

    @property
    def config(self) -> Config:
        return Config(folder=self.folder, database=self.database)

    def call(self, *words: str, database: str | None = None) -> Result:
        """Run a command in this process."""
        command = [*words, "--database", database or self.database]
        return CliRunner().invoke(app, command, catch_exceptions=True)

    def ids(self, *words: str, database: str | None = None) -> list[str]:
        """Run a command that must succeed; its lines on stdout."""
        result = self.call(*words, database=database)
        assert result.exit_code == 0, result.exception or result.output
        return result.stdout.splitlines()

    def fails(self, *words: str) -> str:
        """Run a command that must be refused; the sentence a user would read."""
        result = self.call(*words)
        assert isinstance(result.exception, EvalbotError), result.output
        assert result.exception.exit_code == 2
        return str(result.exception)

    def rates(self, *words: str, database: str | None = None) -> list[dict[str, Any]]:
        """Rows of the rate table."""
        result = self.call("rates", *words, "--format", "json", database=database)
        assert result.exit_code == 0, result.exception or result.output
        rows: list[dict[str, Any]] = json.loads(result.stdout)
        return rows

    def files(self, folder: str) -> dict[str, bytes]:
        """The files of an export, without what tells when it was written."""
        home = self.folder / folder
        found = {
            path.relative_to(home).as_posix(): path.read_bytes()
            for path in sorted(home.rglob("*"))
            if path.is_file()
        }
        head = json.loads(found.pop("run.json"))
        del head["exported_at"]
        sums = [line for line in found.pop("SHA256SUMS").splitlines() if b"run.json" not in line]
        return {**found, "run.json": json.dumps(head).encode(), "sums": b"\n".join(sums)}

    def lines(self, folder: str, name: str) -> list[dict[str, Any]]:
        """The lines of a file of an export."""
        text = (self.folder / folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n") if line]

    def write(self, name: str, text: str) -> str:
        """Write a file; its name as a user types it."""
        (self.folder / name).write_text(text, encoding="utf-8", newline="")
        return name

    def csv(self, name: str, *rows: list[str | int | float | None], bom: bool = True) -> str:
        """Write a CSV file as evalbot writes its own."""
        return self.write(name, (BOM if bom else "") + write_csv(rows))

    def put_suite(self, suite: Suite) -> None:
        """Write a suite into datasets/."""
        write_suite(suite, self.folder / "datasets" / suite.name)

    def put_rubric(self, rubric: Rubric) -> None:
        """Write a rubric into rubrics/."""
        home = self.folder / "rubrics"
        home.mkdir(exist_ok=True)
        text = write_rubric(rubric)
        (home / f"{rubric.name}.yaml").write_text(text, encoding="utf-8", newline="")


def make_suite(*cases: Case, name: str = "s", rubric: str = "r") -> Suite:
    """A small suite."""
    return Suite(name=name, title=name, task=Task.RUBRIC, rubric=rubric, cases=cases)


def make_rubric(
    name: str = "r",
    *,
    rate: str = "fault_rate",
    direction: str = "lower",
    weights: dict[str, float] | None = None,
    scorer: ScorerName = ScorerName.FUZZY,
) -> Rubric:
    """A rubric with the scale best, middle, worst."""
    credits_ = {"best": 1.0, "middle": 0.5, "worst": 0.0}
    return Rubric(
        name=name,
        version="1",
        title=name,
        scale=tuple(ScaleStep(word, credit, f"it is {word}") for word, credit in credits_.items()),
        rate=RateRule(rate, rate, direction, weights or WEIGHTS),
        auto=AutoRule(scorer=scorer, folding=("nfkc",), bands=(Band(correct=100.0),)),
    )


@pytest.fixture
def site(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A folder with suite `s` (cases q1, q2, q3 that are answered a1, a2, a3) and rubric `r`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALBOT_DATABASE", raising=False)
    made = Site(tmp_path, database_url)
    made.put_rubric(make_rubric())
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=(f"a{n}",)) for n in (1, 2, 3)]
    made.put_suite(make_suite(*cases))
    return made
