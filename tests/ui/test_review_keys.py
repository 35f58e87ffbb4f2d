"""Which key gives which verdict: no key twice, none of the page's own, each as it is pressed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evalbot.domain.rubrics import Rubric, ScaleStep
from evalbot.ui.review.render import verdict_keys
from tests.building import small_run, write_site


def rubric(folder: Path, *keys: str) -> Rubric:
    write_site(folder)
    usual = small_run(folder, "qwen").rubric
    steps = [replace(usual.scale[0], verdict=f"v{n}", key=key) for n, key in enumerate(keys)]
    assert all(isinstance(step, ScaleStep) for step in steps)
    return replace(usual, scale=tuple(steps))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["", "", ""], "123"),
        (["c", "a", "w"], "1aw"),
        (["x", "u", "?"], "123"),
        (["A", "Ｂ", ""], "ab3"),
        (["2", "", ""], "234"),
        (["", "1"], "21"),
        (["a", "A"], "a2"),
        (["ab", " "], "1 "),
    ],
    ids=str,
)
def test_each_verdict_has_a_key_of_its_own(tmp_path: Path, keys: list[str], expected: str) -> None:
    assert "".join(verdict_keys(rubric(tmp_path, *keys))) == expected


def test_of_many_verdicts_the_last_have_none(tmp_path: Path) -> None:
    assert verdict_keys(rubric(tmp_path, *[""] * 12)) == (*"1234567890", "", "")
