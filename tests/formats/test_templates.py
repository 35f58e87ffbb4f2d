from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.rubrics import AutoRule, Band, JudgeRule, RateRule, Rubric, ScaleStep
from evalbot.domain.settings import (
    Config,
    Electricity,
    EndpointSettings,
    HardwareSettings,
    JudgeSettings,
)
from evalbot.errors import InputError
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.config import parse_config, read_config
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.formats.templates import FILES, template, write_templates


def test_the_templates_are_valid(tmp_path: Path) -> None:
    assert write_templates(tmp_path) == [tmp_path / name for name in FILES]
    config = read_config(tmp_path / "evalbot.yaml")
    assert config.hardware == ()
    assert {endpoint.base_url for endpoint in config.endpoints} == {"http://127.0.0.1:8080/v1"}
    suite = read_suite(find_suite("my-suite", config.folder))
    assert len(suite.cases) == 5
    rubric = read_rubric(find_rubric(suite.rubric, config.folder))
    assert rubric.verdicts == ("correct", "acceptable", "wrong")


EXAMPLE = re.compile(r"^( *)# ( *(?:- )?[a-z_-]+:(?: |$))", re.MULTILINE)


def test_every_example_in_the_config_is_valid_too() -> None:
    text = template("evalbot.yaml").decode()
    text = text.replace("judges: []", "judges:")
    text = text.replace("database: sqlite:///evalbot.db\n", "")
    config = parse_config(EXAMPLE.sub(r"\1\2", text), Path("/work"))
    assert config.database == "postgresql+psycopg://user@host/db"
    assert config.endpoints[0].hardware == "my-machine"
    assert config.judges[0].price == {"input": 3.0, "output": 15.0}
    assert config.hardware[0].telemetry[0] == "nvidia-smi"
    assert config.electricity == Electricity(0.3, "EUR")


@pytest.mark.parametrize(
    ("settings", "apart"),
    [
        (Config, {"folder"}),
        (EndpointSettings, set()),
        (JudgeSettings, set()),
        (HardwareSettings, {"name"}),
        (Electricity, set()),
    ],
)
def test_every_key_of_the_config_is_explained(settings: Any, apart: set[str]) -> None:
    text = template("evalbot.yaml").decode()
    for field in fields(settings):
        assert field.name in apart or f"{field.name}:" in text


@pytest.mark.parametrize("part", [Rubric, ScaleStep, RateRule, AutoRule, Band, JudgeRule])
def test_every_key_of_the_rubric_is_explained(part: Any) -> None:
    text = template("rubrics/my-rubric.yaml").decode()
    for field in fields(part):
        assert f"{field.name}:" in text


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="would be overwritten"):
        write_templates(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 1


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        write_templates(tmp_path / "file")
