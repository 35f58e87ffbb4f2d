"""Which grades are stale: made under a text that is not today's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.rubrics import Layer
from evalbot.grading.basis import Basis

_STATUSES = frozenset(AnswerStatus)


class SaidUnder(Protocol):
    """What a grade says, and the texts it was given under."""

    @property
    def layer(self) -> str:
        """Whose grade it is."""

    @property
    def verdict(self) -> str | None:
        """Its verdict, if any."""

    @property
    def unscored_reason(self) -> str | None:
        """Why it has none."""

    @property
    def rubric_fingerprint(self) -> str:
        """The rule it was given under."""

    @property
    def case_fingerprint(self) -> str:
        """The case it was given under."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of today: what the grades of a run must rest on so as not to be stale."""

    cases: Mapping[str, str]
    layers: Mapping[str, str]
    verdicts: frozenset[str]

    @classmethod
    def of(cls, basis: Basis) -> Rules:
        """The rules that a run is graded by."""
        suite, rubric = basis.suite, basis.rubric
        return cls(
            cases={case.key: suite.grading_fingerprint(case) for case in suite.cases},
            layers={str(layer): rubric.fingerprint_for(layer) for layer in Layer},
            verdicts=frozenset(rubric.verdicts),
        )

    def is_stale(self, case: str, grade: SaidUnder) -> bool:
        """Whether it was given under another rule, or in a word that the scale has not.

        Never one that only says how asking went: no text changes that an answer was cut off.
        """
        if grade.verdict is None and grade.unscored_reason in _STATUSES:
            return False
        return (
            grade.case_fingerprint != self.cases[case]
            or grade.rubric_fingerprint != self.layers[grade.layer]
            or (grade.verdict is not None and grade.verdict not in self.verdicts)
        )
