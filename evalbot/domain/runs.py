"""Runs: one suite sent to one set of endpoints, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from evalbot.domain.answers import Answer, Place
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric


class RunState(StrEnum):
    """running while a process works on it; stopped when one gave up or was stopped."""

    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class RunEndpoint:
    """One endpoint of a run: its settings, without secrets, and the model it held."""

    name: str
    settings: Mapping[str, Any]
    settings_fingerprint: str
    family: str | None = None
    quantisation: str | None = None
    hardware: str | None = None
    model_id: str | None = None
    model_fingerprint: str | None = None
    slots: int | None = None
    slot_context: int | None = None
    concurrency: int | None = None
    stopped_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run as recorded. suite and rubric are what it is graded by when the files are gone.

    questions: case key → fingerprint of the question that was asked.
    import_key: content of the file an imported run came from, so that it comes in once.
    """

    id: str
    suite: Suite
    rubric: Rubric
    questions: Mapping[str, str]
    state: RunState
    repeats: int
    started_at: datetime
    label: str | None = None
    finished_at: datetime | None = None
    endpoints: tuple[RunEndpoint, ...] = ()
    version: str = ""
    import_key: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer with its place in a run; the highest attempt of a place counts."""

    place: Place
    attempt: int
    answer: Answer
    question_fingerprint: str
    model_fingerprint: str | None = None


class NewGrade(NamedTuple):
    """A grade to be recorded; exactly one of verdict and unscored_reason is given.

    token makes a grade unique whatever happens on the way: the same one twice is one.
    vote: which reply of a judge this is; None for a majority and for other layers. entropy:
    of the votes behind a majority, in bits. seen: what the grader could see besides the
    answer. params: what was really sent to a judge, and `judge`, the fingerprint of its
    settings. prompt_fingerprint: the text it was asked by, without the answer.
    """

    layer: str
    grader: str
    verdict: str | None
    unscored_reason: str | None
    rubric: str
    rubric_version: str
    rubric_fingerprint: str
    case_fingerprint: str
    at: datetime
    evidence: Mapping[str, Any] | None = None
    rationale: str | None = None
    grader_family: str | None = None
    token: str | None = None
    checkpoints: Sequence[Mapping[str, Any]] | None = None
    comment: str | None = None
    vote: int | None = None
    entropy: float | None = None
    campaign: str | None = None
    seen: Sequence[str] | None = None
    params: Mapping[str, Any] | None = None
    cost_usd: float | None = None
    prompt_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class StoredGrade:
    """A grade as recorded, with the answer it was said about."""

    id: int
    answer_id: int
    place: Place
    grade: NewGrade
