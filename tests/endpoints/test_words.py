from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.formats.received import LONGEST_DETAIL, clean_text, shorten


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("東京", "東京"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00a", "\ufffda"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        ("a\x00b", "a\ufffdb"),
        ("\x00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_are_joined_and_what_cannot_be_stored_is_replaced(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(st.text(st.characters()))
def test_every_text_can_be_stored_afterwards(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@given(st.text(st.characters()))
def test_a_detail_is_one_short_line_that_can_be_stored(text: str) -> None:
    short = shorten(text)
    short.encode("utf-8")
    assert len(short) <= LONGEST_DETAIL
    assert not set(short) & set("\n\r\t\x00")


def test_a_long_detail_says_that_it_was_cut() -> None:
    assert shorten("x" * 501).endswith("…")
    assert shorten("x" * 500) == "x" * 500
