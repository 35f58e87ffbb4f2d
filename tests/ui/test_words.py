"""The page's own words: the same in every language, and the language that a browser likes best."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from evalbot.ui import words
from evalbot.ui.words import ALL, LANGUAGES, translations, words_for

TABLE = words._TABLE
UI = Path(words.__file__).parent


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("line", TABLE, ids=lambda line: line[0])
def test_every_language_has_the_words_and_the_same_values(line: tuple[str, ...]) -> None:
    assert len(line) == 1 + len(LANGUAGES)
    assert all(text.strip() for text in line)
    assert len({frozenset(fields(text)) for text in line[1:]}) == 1


def test_no_key_stands_twice() -> None:
    keys = [line[0] for line in TABLE]
    assert len(keys) == len(set(keys))


def test_every_key_that_is_used_is_there_and_every_one_is_used() -> None:
    used: set[str] = set()
    for path in UI.rglob("*.py"):
        if path.name == "words.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
    known = {line[0] for line in TABLE}
    built = {"chat_good", "chat_fair", "chat_bad"}  # by the grade's own word
    assert known - used - built == set()


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"), ("", "en"), ("ja", "ja"), ("ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("zh-CN,zh;q=0.9", "zh-CN"), ("zh-TW", "zh-CN"), ("de-DE,de;q=0.9,ja;q=0.4,en;q=0.3", "ja"),
        ("en;q=0.5,zh;q=0.7", "zh-CN"), ("fr", "en"), ("q=q=q;;;,,", "en"), ("ja;q=x,en", "en"),
        ("java", "en"), ("x" * 100_000, "en"),
    ],
)  # fmt: skip
def test_the_best_liked_language_is_taken(header: str | None, language: str) -> None:
    assert words_for(header) is ALL[language]


def test_gradio_is_given_the_words_without_values() -> None:
    given = translations()
    assert set(given) == set(LANGUAGES)
    assert given["ja"]["sign_in"] == "サインイン"
    assert not any("{" in text for texts in given.values() for text in texts.values())
