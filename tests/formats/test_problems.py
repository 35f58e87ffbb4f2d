from __future__ import annotations

import pytest

from evalbot.errors import ProblemsError
from evalbot.formats.problems import Problems, nearest, one_of, shown


def test_no_problem_raises_nothing() -> None:
    Problems().raise_if_any()


def test_all_problems_are_told_at_once() -> None:
    problems = Problems()
    problems.add("a.yaml:1", "x", "nothing", "text")
    problems.add("a.yaml:2", "", '"q"', "a list")
    with pytest.raises(ProblemsError, match="2 problems") as caught:
        problems.raise_if_any()
    assert [str(problem) for problem in caught.value.problems] == [
        "a.yaml:1: x: found nothing; expected text",
        'a.yaml:2: found "q"; expected a list',
    ]


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("thinkng", ["thinking", "timeout_s"], "thinking"),
        ("Model", ["model", "family"], "model"),
        ("zzz", ["model"], None),
        ("x", [], None),
        ("x" * 1_000_000, ["xx"], None),
    ],
)
def test_nearest_name(name: str, known: list[str], expected: str | None) -> None:
    assert nearest(name, known) == expected


def test_one_of_suggests_the_nearest_choice() -> None:
    assert one_of(["fuzzy", "exact"], "fuzy") == "one of fuzzy, exact (did you mean fuzzy?)"
    assert one_of(["fuzzy", "exact"], "q") == "one of fuzzy, exact"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京", '"東京"'),
        ("a\nb", '"a\\nb"'),
        ("\ud800", '"\\ud800"'),
        ("x" * 61, '"' + "x" * 60 + '…"'),
    ],
)
def test_shown_texts_are_short_printable_and_on_one_line(text: str, expected: str) -> None:
    assert shown(text) == expected
