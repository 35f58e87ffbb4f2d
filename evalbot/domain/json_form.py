"""Domain objects as JSON values and back: what the record and the exports keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from evalbot.domain.cases import Case, Checkpoint, Language, Message, Suite, Task
from evalbot.domain.rubrics import (
    AutoRule,
    Band,
    JudgeRule,
    RateRule,
    Rubric,
    ScaleStep,
    ScorerName,
)


def case_to_json(case: Case) -> dict[str, Any]:
    """Every field of a case. Written out: asdict is ten times slower, and suites are large."""
    return {
        "key": case.key,
        "prompt": case.prompt,
        "messages": [{"role": turn.role, "content": turn.content} for turn in case.messages],
        "references": list(case.references),
        "acceptable": list(case.acceptable),
        "traps": list(case.traps),
        "critical": list(case.critical),
        "checkpoints": [
            {"id": line.id, "text": line.text, "weight": line.weight} for line in case.checkpoints
        ],
        "choices": list(case.choices),
        "scorer": case.scorer,
        "language": None
        if case.language is None
        else {"source": case.language.source, "target": case.language.target},
        "cluster": case.cluster,
        "notes": case.notes,
        "source": case.source,
        "tags": list(case.tags),
    }


def case_from_json(value: Mapping[str, Any]) -> Case:
    """The case that case_to_json was given."""
    fields = dict(value)
    for name in ("references", "acceptable", "traps", "critical", "choices", "tags"):
        fields[name] = tuple(fields[name])
    fields["messages"] = tuple(Message(**turn) for turn in fields["messages"])
    fields["checkpoints"] = _checkpoints(fields["checkpoints"])
    if fields["language"] is not None:
        fields["language"] = Language(**fields["language"])
    return Case(**fields)


def suite_to_json(suite: Suite) -> dict[str, Any]:
    """Every field of a suite but its cases."""
    fields = _fields(replace(suite, cases=()))
    del fields["cases"]
    return fields


def suite_from_json(value: Mapping[str, Any], cases: tuple[Case, ...]) -> Suite:
    """The suite that suite_to_json was given, with these cases."""
    fields = dict(value)
    fields["task"] = Task(fields["task"])
    fields["language"] = Language(**fields["language"])
    return Suite(**fields, cases=cases)


def rubric_to_json(rubric: Rubric) -> dict[str, Any]:
    """Every field of a rubric."""
    return _fields(rubric)


def rubric_from_json(value: Mapping[str, Any]) -> Rubric:
    """The rubric that rubric_to_json was given."""
    auto = dict(value["auto"])
    auto["scorer"] = ScorerName(auto["scorer"])
    auto["bands"] = tuple(Band(**band) for band in auto["bands"])
    auto["folding"], auto["caps"] = tuple(auto["folding"]), tuple(auto["caps"])
    return Rubric(
        name=value["name"],
        version=value["version"],
        title=value["title"],
        scale=tuple(
            ScaleStep(**{**step, "examples": tuple(step["examples"])}) for step in value["scale"]
        ),
        rate=RateRule(**value["rate"]),
        auto=AutoRule(**auto),
        checkpoints=_checkpoints(value["checkpoints"]),
        judge=JudgeRule(**value["judge"]),
    )


def _checkpoints(values: Any) -> tuple[Checkpoint, ...]:
    return tuple(Checkpoint(**line) for line in values)


def _fields(value: Suite | Rubric) -> dict[str, Any]:
    return {name: _plain(inner) for name, inner in asdict(value).items()}


def _plain(value: Any) -> Any:
    """Tuples as lists and enumerations as their text, as JSON would give them back."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value
