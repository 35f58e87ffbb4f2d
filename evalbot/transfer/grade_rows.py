"""Rows of grades as grades by the rules of today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from evalbot.domain.answers import Place
from evalbot.domain.cases import Suite, grading_text
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import NewGrade
from evalbot.fingerprint import fingerprint
from evalbot.formats.imports import GradeRow
from evalbot.formats.problems import Problems, shown
from evalbot.transfer.verdicts import Said, VerdictReader


class GradeMaker:
    """Makes grades for one run; case_rules and rubric_rules are the texts they rest on."""

    def __init__(self, run: str, suite: Suite, rubric: Rubric, layers: Iterable[Layer]) -> None:
        self._run = run
        self._rubric = rubric
        self._now = datetime.now(UTC)
        self._seen: Counter[str] = Counter()
        self._verdicts = VerdictReader(rubric)
        self.case_rules = [grading_text(suite, case) for case in suite.cases]
        texts = {str(layer): rubric.text_for(layer) for layer in sorted(set(layers))}
        self.rubric_rules: list[dict[str, Any]] = list(texts.values())
        self._layers = {layer: fingerprint(text) for layer, text in texts.items()}
        self._cases = {
            case.key: fingerprint(text)
            for case, text in zip(suite.cases, self.case_rules, strict=True)
        }

    def make(self, row: GradeRow) -> NewGrade:
        """The grade of a row whose verdict has been checked."""
        said = self._verdicts.read(row.verdict)
        layer = str(row.layer)
        return NewGrade(
            layer=layer,
            grader=row.grader,
            verdict=said.verdict,
            unscored_reason=said.unscored_reason,
            rubric=self._rubric.name,
            rubric_version=self._rubric.version,
            rubric_fingerprint=self._layers[layer],
            case_fingerprint=self._cases[row.case],
            at=row.at or self._now,
            rationale=row.rationale,
            token=self._token(row, said),
        )

    def _token(self, row: GradeRow, said: Said) -> str:
        """From what is said, not from where it stands: the same file again adds nothing.

        Rows that say exactly the same are told apart by counting them.
        """
        at = None if row.at is None else row.at.isoformat()
        content = [*said, row.case, row.model, row.repeat, row.layer, row.grader, row.rationale, at]
        token = fingerprint([self._run, *content])
        self._seen[token] += 1
        return fingerprint([token, self._seen[token]])


def check_verdicts(rows: Iterable[GradeRow], rubric: Rubric, problems: Problems) -> None:
    """Note each row whose verdict is neither on the scale nor a reason for having none."""
    reader = VerdictReader(rubric)
    for row in rows:
        if not reader.knows(row.verdict):
            problems.add(row.place, "verdict", shown(row.verdict), reader.expected(row.verdict))


def place_of(row: GradeRow) -> Place:
    """The answer that the row speaks of; imported grades are of the first pass."""
    return Place(row.case, row.model, row.repeat)


def texts_by_place(rows: Sequence[GradeRow], problems: Problems) -> dict[Place, str | None]:
    """The answers that rows bring along; a place with two different ones is noted."""
    texts: dict[Place, str | None] = {}
    first: dict[Place, str] = {}
    for row in rows:
        place = place_of(row)
        if row.answer is None:
            texts.setdefault(place, None)
        elif first.setdefault(place, row.place) == row.place:
            texts[place] = row.answer
        elif texts[place] != row.answer:
            expected = f"the answer of {first[place]}, which is to the same question"
            problems.add(row.place, "answer", shown(row.answer), expected)
    return texts
