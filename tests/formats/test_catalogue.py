from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalbot.errors import NotFoundError
from evalbot.formats import catalogue
from evalbot.formats.catalogue import find_rubric, find_suite, list_rubrics, list_suites


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own suite and rubric, beside shipped ones."""
    shipped = tmp_path / "shipped"
    monkeypatch.setattr(catalogue, "shipped_folder", lambda: shipped)
    for base, suites in ((tmp_path / "own", ["mine", "both"]), (shipped, ["both", "theirs"])):
        for name in suites:
            (base / "datasets" / name).mkdir(parents=True)
            (base / "datasets" / name / "suite.yaml").touch()
            (base / "rubrics").mkdir(exist_ok=True)
            (base / "rubrics" / f"{name}.yaml").touch()
    return tmp_path / "own"


def test_own_suites_come_before_shipped_ones(home: Path) -> None:
    assert find_suite("both", home) == home / "datasets" / "both"
    assert find_suite("theirs", home) == home.parent / "shipped" / "datasets" / "theirs"
    assert set(list_suites(home)) == {"mine", "both", "theirs"}
    assert list_suites(home)["both"] == home / "datasets" / "both"


def test_own_rubrics_come_before_shipped_ones(home: Path) -> None:
    assert find_rubric("both", home) == home / "rubrics" / "both.yaml"
    assert find_rubric("theirs", home) == home.parent / "shipped" / "rubrics" / "theirs.yaml"
    assert set(list_rubrics(home)) == {"mine", "both", "theirs"}


def test_a_path_works_too(home: Path) -> None:
    folder = home / "datasets" / "mine"
    rubric = home / "rubrics" / "mine.yaml"
    assert find_suite(str(folder), home.parent) == folder
    assert find_suite(str(folder / "suite.yaml"), home.parent) == folder
    assert find_rubric(str(rubric), home.parent) == rubric


@pytest.mark.parametrize("find", [find_suite, find_rubric])
def test_an_unknown_name_suggests_the_nearest_and_tells_where_it_looked(
    home: Path, find: Callable[[str, Path], Path]
) -> None:
    with pytest.raises(NotFoundError, match=re.escape("(did you mean theirs?); looked in ")) as got:
        find("thiers", home)
    assert str(home) in str(got.value)
    assert str(home.parent / "shipped") in str(got.value)


@pytest.mark.parametrize("name", ["", "..", "x\0y", "x" * 5000, "a/b"])
def test_odd_names_are_not_found(home: Path, name: str) -> None:
    with pytest.raises(NotFoundError):
        find_suite(name, home)
    with pytest.raises(NotFoundError):
        find_rubric(name, home)


def test_the_shipped_folder_holds_what_is_shipped() -> None:
    inside = Path(catalogue.__file__).parents[1] / "shipped"
    expected = inside if inside.is_dir() else inside.parents[1]
    assert catalogue.shipped_folder() == expected
