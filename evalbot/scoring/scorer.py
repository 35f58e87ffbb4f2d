"""Automatic grades for the answers of a suite, by a rubric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rapidfuzz.distance import Levenshtein

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import AutoGrade, Rubric, ScorerName
from evalbot.errors import InputError
from evalbot.scoring.caps import FLAGS
from evalbot.scoring.choice import choice
from evalbot.scoring.contains import contains
from evalbot.scoring.exact import exact
from evalbot.scoring.finding import Finding, Readings, Scoring
from evalbot.scoring.forms import Form, PreparedCase
from evalbot.scoring.fuzzy import fuzzy
from evalbot.scoring.normalise import Folder
from evalbot.scoring.verdicts import Kind
from evalbot.scoring.wrapper import unwrap

SCORERS: Mapping[ScorerName, Scoring] = {
    ScorerName.FUZZY: fuzzy,
    ScorerName.EXACT: exact,
    ScorerName.CONTAINS: contains,
    ScorerName.CHOICE: choice,
}
"""A new scorer is a function of this shape and a line here."""


class Scorer:
    """Grades answers of one suite by one rubric; a case's texts are folded when first needed."""

    def __init__(self, rubric: Rubric, suite: Suite) -> None:
        """Raises InputError where a case or the rubric names an unknown scorer or folding."""
        self._rubric = rubric
        self._cases = {case.key: case for case in suite.cases}
        self._scorers = {case.key: _scorer_name(case.scorer, rubric) for case in suite.cases}
        targets = {case.key: suite.language_of(case).target for case in suite.cases}
        folders = {target: Folder(rubric.auto.folding, target) for target in set(targets.values())}
        self._folders = {key: folders[target] for key, target in targets.items()}
        self._prepared: dict[str, PreparedCase] = {}

    def grade(self, case_key: str, status: AnswerStatus, text: str) -> AutoGrade:
        """The grade of one answer text, thinking already removed, with its evidence.

        An answer that is not OK is unscored by its status, one without a letter or digit
        to compare as `empty`, an undecided one as `needs_review`. Raises KeyError for a
        case that is not in the suite.
        """
        if status is not AnswerStatus.OK:
            return AutoGrade(None, str(status), {})
        name = self._scorers[case_key]
        scorer = SCORERS.get(name)
        if scorer is None:
            return AutoGrade(None, "needs_review", {"scorer": str(name), "flags": []})
        case = self._case(case_key)
        unwrapped = unwrap(text)
        whole = Form(text, case.folder)
        readings = Readings(
            whole, Form(unwrapped.text, case.folder) if unwrapped.removed else whole
        )
        if not whole.folded.strip():
            return AutoGrade(None, AnswerStatus.EMPTY.value, {"scorer": str(name), "flags": []})
        found = scorer(case, readings) if case.has_texts else Finding(None)
        evidence = _evidence(name, case, found, unwrapped.flagged)
        return AutoGrade(found.verdict, None if found.verdict else "needs_review", evidence)

    def _case(self, key: str) -> PreparedCase:
        if key not in self._prepared:
            self._prepared[key] = PreparedCase.of(
                self._cases[key], self._rubric, self._folders[key]
            )
        return self._prepared[key]


def _scorer_name(override: str | None, rubric: Rubric) -> ScorerName:
    name = override or rubric.auto.scorer
    try:
        return ScorerName(name)
    except ValueError:
        known = ", ".join(ScorerName)
        raise InputError(f"scorer {name!r} is none of {known}") from None


def _evidence(
    name: ScorerName, case: PreparedCase, found: Finding, in_wrapper: bool
) -> dict[str, Any]:
    flags = [FLAGS[name] for name in found.differences if name in FLAGS]
    if in_wrapper:
        flags.append("wrapper")
    evidence: dict[str, Any] = {
        "scorer": str(name),
        "folding": list(case.folder.names),
        "flags": flags,
    }
    nearest, reading = found.nearest, found.reading
    if nearest is None or reading is None:
        return evidence
    if nearest.kind is Kind.TRAP:
        flags.append("trap")
    if nearest.traditional != reading.traditional:
        flags.append("script_differs")
    evidence["nearest"] = nearest.text
    evidence["nearest_kind"] = str(nearest.kind)
    if found.ratio is not None:
        evidence["ratio"] = round(found.ratio, 4)
        evidence["edits"] = Levenshtein.distance(reading.folded, nearest.folded)
    if found.capped:
        evidence["cap"] = ", ".join(found.capped)
    return evidence
