"""The texts that campaigns rest on besides those in suite/ and rubric.yaml.

A campaign keeps the suite, cases and rubric it was drawn with as long as it lasts, so its line
carries those of them that the files no longer hold. They are written as the files write them,
and read as strictly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalbot.domain.cases import Case, Suite, grading_text
from evalbot.domain.json_form import (
    case_from_json,
    case_to_json,
    rubric_from_json,
    rubric_to_json,
    suite_from_json,
    suite_to_json,
)
from evalbot.domain.reviewing import Assignment, Campaign
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.fingerprint import fingerprint
from evalbot.formats.cases import read_case
from evalbot.formats.fields import Fields
from evalbot.formats.rubrics import rubric_of, rubric_values
from evalbot.formats.suites import case_values, head_values, read_head
from evalbot.store.database import Connection
from evalbot.store.texts import get_texts, put_texts
from evalbot.transfer.lines import Line
from evalbot.transfer.strict import free

SUITE, RUBRIC, CASE, CASE_RULE = "suite", "rubric", "case", "case_rule"


@dataclass(frozen=True, slots=True)
class ReviewTexts:
    """Texts by fingerprint, each kind apart: a rubric must not be taken for a suite."""

    suites: dict[str, Suite] = field(default_factory=dict)
    rubrics: dict[str, Rubric] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    case_rules: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def has(self, kind: str, name: str) -> bool:
        """Whether there is a text of this kind and fingerprint."""
        kinds: dict[str, Mapping[str, object]] = {
            SUITE: self.suites, RUBRIC: self.rubrics, CASE: self.cases, CASE_RULE: self.case_rules
        }  # fmt: skip
        return name in kinds[kind]


def texts_in_files(suite: Suite, rubric: Rubric) -> ReviewTexts:
    """The texts that suite/ and rubric.yaml hold."""
    rules = [grading_text(suite, case) for case in suite.cases]
    return ReviewTexts(
        suites={fingerprint(suite_to_json(suite)): suite},
        rubrics={fingerprint(rubric_to_json(rubric)): rubric},
        cases={fingerprint(case_to_json(case)): case for case in suite.cases},
        case_rules={fingerprint(rule): rule for rule in rules},
    )


def other_texts(
    connection: Connection,
    campaign: Campaign,
    assignments: Iterable[Assignment],
    in_files: ReviewTexts,
) -> list[Line]:
    """What a campaign rests on and the files do not hold, in a stable order."""
    needed = {(SUITE, campaign.suite_text), (RUBRIC, campaign.rubric_text)}
    for one in assignments:
        needed |= {(CASE, one.case_text), (CASE_RULE, one.case_rule)}
    missing = sorted(one for one in needed if not in_files.has(*one))
    stored = get_texts(connection, [name for _, name in missing])
    return [{"kind": kind, "body": _as_in_files(kind, stored[name])} for kind, name in missing]


def read_other_texts(fields: Fields, texts: ReviewTexts) -> None:
    """Add the texts of a campaign's line; what is wrong with them is noted."""
    for inner in fields.mappings("texts"):
        kind = inner.choice("kind", (SUITE, RUBRIC, CASE, CASE_RULE))
        inner.require("body", "the text as the files write it")
        body = inner.mapping("body")
        if body is not None and kind == SUITE:
            suite = read_head(body)
            texts.suites[fingerprint(suite_to_json(suite))] = suite
        elif body is not None and kind == RUBRIC:
            rubric = rubric_of(body)
            texts.rubrics[fingerprint(rubric_to_json(rubric))] = rubric
        elif body is not None and kind == CASE:
            case = read_case(body)
            texts.cases[fingerprint(case_to_json(case))] = case
        elif body is not None:
            rule = free(inner, "body")
            texts.case_rules[fingerprint(rule)] = rule
        inner.finish()


def rule_of_people(rubric: Rubric) -> str:
    """The fingerprint of what people's grades rest on."""
    return fingerprint(rubric.text_for(Layer.HUMAN))


def put_review_texts(connection: Connection, texts: ReviewTexts) -> None:
    """Write the texts, and the rules that people's grades by these rubrics rest on."""
    put_texts(connection, SUITE, [suite_to_json(one) for one in texts.suites.values()])
    put_texts(connection, RUBRIC, [rubric_to_json(one) for one in texts.rubrics.values()])
    put_texts(connection, CASE, [case_to_json(one) for one in texts.cases.values()])
    put_texts(connection, CASE_RULE, texts.case_rules.values())
    for layer in (Layer.HUMAN, Layer.ADJUDICATED):
        rules = [rubric.text_for(layer) for rubric in texts.rubrics.values()]
        put_texts(connection, "rubric_rule", rules)


def _as_in_files(kind: str, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    if kind == SUITE:
        return head_values(suite_from_json(stored, ()))
    if kind == RUBRIC:
        return rubric_values(rubric_from_json(stored))
    return case_values(case_from_json(stored)) if kind == CASE else stored
