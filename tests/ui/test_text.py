"""Text of models as HTML: nothing of it is ever markup, and nothing of it hides."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.ui.text import as_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>&\"'</b>", "&lt;b&gt;&amp;&#34;&#39;&lt;/b&gt;"),
        ("a\u202eb\u2066c", "a⟦U+202E⟧b⟦U+2066⟧c"),
        ("zero\u200bwidth\ufeff", "zero⟦U+200B⟧width⟦U+FEFF⟧"),
        ("\x00\x1b[31m\x7f\x9b", "␀␛[31m⟦U+007F⟧⟦U+009B⟧"),
        ("line\r\nend\n\ttab", "line\nend\n\ttab"),
        ("👩‍🔬 stays", "👩‍🔬 stays"),  # joined by U+200D, which belongs there
        ("", ""),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert str(as_text(text)) == shown


@given(st.text())
def test_no_text_becomes_markup_and_none_is_lost(text: str) -> None:
    made = str(as_text(text))
    assert not set("<>\"'") & set(made)
    read = html.unescape(made)
    for character in set(text) - set("\r"):
        if character.isprintable() and not character.isspace():
            assert character in read or f"U+{ord(character):04X}" in read
