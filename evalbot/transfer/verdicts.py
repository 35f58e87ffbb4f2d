"""What an imported verdict cell says: a word of the scale, or why there is none."""

from __future__ import annotations

from typing import NamedTuple

from evalbot.domain.rubrics import Rubric
from evalbot.domain.unscored import UNSCORED_REASONS
from evalbot.formats.problems import nearest


class Said(NamedTuple):
    """Exactly one of both is given."""

    verdict: str | None
    unscored_reason: str | None


class VerdictReader:
    """Reads verdicts by one rubric, whole words, upper or lower case alike."""

    def __init__(self, rubric: Rubric) -> None:
        self._said = {reason: Said(None, reason) for reason in UNSCORED_REASONS}
        # Last, so that a scale's own word is what the scale says it is.
        self._said |= {word.casefold(): Said(word, None) for word in rubric.verdicts}
        self._words = [*rubric.verdicts, *UNSCORED_REASONS]
        self._scale = f"one of {', '.join(rubric.verdicts)}"

    def knows(self, word: str) -> bool:
        """Whether the word is on the scale or a reason."""
        return word.casefold() in self._said

    def read(self, word: str) -> Said:
        """What the word says. Raises KeyError for one that it does not know."""
        return self._said[word.casefold()]

    def expected(self, word: str) -> str:
        """What should stand in the word's place."""
        close = nearest(word, self._words)
        hint = f" (did you mean {close}?)" if close else ""
        return f"{self._scale}, or a reason such as cannot_judge{hint}"
