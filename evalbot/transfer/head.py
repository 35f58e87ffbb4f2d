"""run.json: how a run was made, and what its grades rest on besides suite/ and rubric.yaml."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from evalbot import __version__
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.formats.fields import COUNT, Bounds, Fields
from evalbot.formats.problems import shown
from evalbot.grading.basis import FROM_RECORD, Basis
from evalbot.grading.staleness import Rules
from evalbot.store.columns import time_text
from evalbot.store.database import Connection
from evalbot.store.texts import get_texts
from evalbot.transfer.lines import GradeRecord
from evalbot.transfer.masking import Mask
from evalbot.transfer.strict import free, moment, optional_moment, optional_text

FORMAT = 1
RUN_ID = re.compile(r"[\w.-]{1,200}")
"""Ids are printed for scripts to use: nothing in them may mean something to a shell."""

REPEATS = Bounds("a whole number from 1 to 10000", at_least=1, at_most=10_000)
NUMBER = Bounds("a whole number from 0 to 2147483647", at_least=0, at_most=2**31 - 1)
PSEUDONYMS, NAMES = "pseudonyms", "names"


@dataclass(frozen=True, slots=True)
class EarlierRubric:
    """A rule that is not today's; lines of grades.jsonl that rest on it, as first and last."""

    body: Mapping[str, Any]
    grades: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Head:
    """What run.json says. cases: rules of cases that are not today's."""

    run: Run
    names: bool
    cases: tuple[Mapping[str, Any], ...] = ()
    rubrics: tuple[EarlierRubric, ...] = ()


def masked_run(run: Run, mask: Mask) -> Run:
    """The run as it may leave the house."""
    return replace(
        run,
        settings=mask.value({k: v for k, v in run.settings.items() if k != FROM_RECORD}),
        endpoints=tuple(_masked_endpoint(endpoint, mask) for endpoint in run.endpoints),
    )


def head_of(
    connection: Connection, run: Run, basis: Basis, grades: Sequence[GradeRecord], *, names: bool
) -> Head:
    """The head of a masked run, with the earlier rules that its grades rest on."""
    rules = Rules.of(basis)
    lines: dict[str, list[int]] = defaultdict(list)
    cases: dict[str, None] = {}
    for number, record in enumerate(grades, start=1):
        grade = record.grade
        if grade.rubric_fingerprint != rules.layers[grade.layer]:
            lines[grade.rubric_fingerprint].append(number)
        if grade.case_fingerprint != rules.cases[record.place.case]:
            cases[grade.case_fingerprint] = None
    texts = get_texts(connection, [*lines, *cases])
    return Head(
        run=replace(run, suite=basis.suite, rubric=basis.rubric),
        names=names,
        cases=tuple(texts[name] for name in sorted(cases)),
        rubrics=tuple(
            EarlierRubric(texts[name], _stretches(lines[name])) for name in sorted(lines)
        ),
    )


def head_values(head: Head) -> dict[str, Any]:
    """run.json's content."""
    run = head.run
    return {
        "format": FORMAT,
        **run_values(run),
        "import_key": run.import_key,
        "fingerprints": _fingerprints(run),
        "earlier_rules": {
            "cases": list(head.cases),
            "rubrics": [asdict(rubric) for rubric in head.rubrics],
        },
        "reviewers": NAMES if head.names else PSEUDONYMS,
        "versions": {"evalbot": run.version, "export": __version__},
        "exported_at": time_text(datetime.now(UTC)),
    }


def run_values(run: Run) -> dict[str, Any]:
    """What tells one run from another, besides its answers and grades."""
    return {
        "run": run.id,
        "suite": run.suite.name,
        "label": run.label,
        "state": str(run.state),
        "repeats": run.repeats,
        "started_at": time_text(run.started_at),
        "finished_at": None if run.finished_at is None else time_text(run.finished_at),
        "settings": dict(run.settings),
        "endpoints": [asdict(endpoint) for endpoint in run.endpoints],
        "questions": dict(run.questions),
    }


def read_head(fields: Fields, suite: Suite, rubric: Rubric) -> Head:
    """The head that head_values was given; what is wrong is noted."""
    if fields.integer("format", COUNT, 0) != FORMAT:
        fields.fault("format", "another format", f"{FORMAT}, the one this evalbot reads")
        fields.problems.raise_if_any()
    run = _read_run(fields, suite, rubric)
    _check_fingerprints(fields, run)
    reviewers = fields.choice("reviewers", (PSEUDONYMS, NAMES))
    cases, rubrics = _read_earlier(fields)
    moment(fields, "exported_at")
    fields.finish()
    return Head(run, reviewers == NAMES, cases, rubrics)


def _masked_endpoint(endpoint: RunEndpoint, mask: Mask) -> RunEndpoint:
    settings = mask.value(dict(endpoint.settings))
    if "model" in settings:
        settings["model"] = mask.model(endpoint.settings["model"])
    return replace(
        endpoint,
        settings=settings,
        model_id=mask.model(endpoint.model_id),
        stopped_reason=mask.optional(endpoint.stopped_reason),
    )


def _stretches(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Growing numbers as first and last of each unbroken stretch."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _fingerprints(run: Run) -> dict[str, Any]:
    rules = Rules.of(Basis(run.suite, run.rubric))
    return {"cases": dict(rules.cases), "rubric": dict(rules.layers)}


def _read_run(fields: Fields, suite: Suite, rubric: Rubric) -> Run:
    endpoints = [_read_endpoint(inner) for inner in fields.mappings("endpoints")]
    names = [endpoint.name for endpoint in endpoints]
    for name in {name for name in names if names.count(name) > 1}:
        fields.fault("endpoints", f"{shown(name)} twice", "each endpoint once")
    if fields.name("suite") != suite.name:
        fields.fault("suite", "another suite", f"{shown(suite.name)}, as in suite/")
    versions = fields.mapping("versions")
    version = "" if versions is None else versions.text_or_blank("evalbot")
    if versions is not None:
        versions.text("export")
        versions.finish()
    run_id = fields.name("run")
    if run_id and not RUN_ID.fullmatch(run_id):
        fields.fault("run", shown(run_id), "letters, digits and . _ - only, at most 200")
    return Run(
        id=run_id,
        suite=suite,
        rubric=rubric,
        questions=_read_words(fields, "questions", [case.key for case in suite.cases]),
        state=RunState(fields.choice("state", list(RunState))),
        repeats=fields.integer("repeats", REPEATS, 1),
        started_at=moment(fields, "started_at"),
        finished_at=optional_moment(fields, "finished_at"),
        label=optional_text(fields, "label"),
        endpoints=tuple(endpoints),
        version=version,
        import_key=optional_text(fields, "import_key"),
        settings={**free(fields, "settings"), FROM_RECORD: True},
    )


def _read_endpoint(fields: Fields) -> RunEndpoint:
    endpoint = RunEndpoint(
        name=fields.name(),
        settings=free(fields, "settings"),
        settings_fingerprint=fields.text("settings_fingerprint"),
        family=optional_text(fields, "family"),
        quantisation=optional_text(fields, "quantisation"),
        hardware=optional_text(fields, "hardware"),
        model_id=optional_text(fields, "model_id"),
        model_fingerprint=optional_text(fields, "model_fingerprint"),
        slots=fields.integer("slots", NUMBER),
        slot_context=fields.integer("slot_context", NUMBER),
        concurrency=fields.integer("concurrency", NUMBER),
        stopped_reason=optional_text(fields, "stopped_reason"),
    )
    fields.finish()
    return endpoint


def _read_words(fields: Fields, name: str, keys: Sequence[str]) -> dict[str, str]:
    fields.require(name, "a text for each of its keys")
    inner = fields.mapping(name)
    if inner is None:
        return {}
    words = {key: inner.text(key) for key in keys}
    inner.finish()
    return words


def _check_fingerprints(fields: Fields, run: Run) -> None:
    """The sums tell of files that changed by accident; these, of a suite that is another's."""
    inner = fields.mapping("fingerprints")
    if inner is None:
        return
    for name, known in _fingerprints(run).items():
        found = _read_words(inner, name, list(known))
        for key, word in found.items():
            if word and word != known[key]:
                inner.fault(name, f"{shown(word)} for {key}", f"{known[key]}, as the files say")
    inner.finish()


def _read_earlier(
    fields: Fields,
) -> tuple[tuple[Mapping[str, Any], ...], tuple[EarlierRubric, ...]]:
    fields.require("earlier_rules", "cases and rubrics, which may be empty")
    found = free(fields, "earlier_rules")
    try:
        cases = tuple(dict(body) for body in found["cases"])
        rubrics = tuple(
            EarlierRubric(dict(one["body"]), [(int(a), int(b)) for a, b in one["grades"]])
            for one in found["rubrics"]
        )
    except (KeyError, TypeError, ValueError):
        if found:
            fields.fault(
                "earlier_rules", "another form", "cases and rubrics as evalbot writes them"
            )
        return (), ()
    return cases, rubrics
