"""Texts for property tests, and how problems are told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from evalbot.errors import ProblemsError

NO_FIGURES = ("1e-320", "1e-300", "9e-7", "1e20", "1000000000001", "inf", "nan")
"""Times and rates that none can be: all but 0 and what lies from 0.000001 to 1e12."""


def written(minimum: int = 1) -> st.SearchStrategy[str]:
    """Any text a file may hold: no NUL, no half surrogate pairs, not blank."""
    characters = st.characters(exclude_characters="\0", exclude_categories=("Cs",))
    return st.text(characters, min_size=minimum, max_size=12).filter(lambda text: text.strip())


def names() -> st.SearchStrategy[str]:
    """One line without control characters or white space around it."""
    characters = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
    return st.text(characters, min_size=1, max_size=12).filter(lambda text: text == text.strip())


def problems_of(act: Callable[[], object]) -> list[str]:
    """The problems that come of an act, as sentences."""
    with pytest.raises(ProblemsError) as caught:
        act()
    return [str(problem) for problem in caught.value.problems]
