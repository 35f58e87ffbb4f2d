"""The tables. docs/record.md tells what each is for and where later ones will stand.

Rows that say something was said (answers, grades) are only ever added. Texts are stored
once, under the fingerprint of their content. Times are ISO 8601 text in UTC.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
)

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class TextColumns(TypedColumns):
    """A case, suite, rubric or prompt, by the fingerprint of its content."""

    fingerprint: Named[str] = Column(String(32), primary_key=True)
    kind: Named[str] = Column(String(16))
    body: Named[Any] = Column(JSON)


text_table = Table(
    "texts",
    metadata,
    TextColumns,
)


class RunColumns(TypedColumns):
    """One run. The lease columns say which process works on it."""

    id: Named[str] = Column(Text, primary_key=True)
    suite: Named[str] = Column(Text)
    suite_text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    rubric_text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    label: Named[str | None] = Column(Text)
    state: Named[str] = Column(String(16))
    repeats: Named[int]
    settings: Named[Any] = Column(JSON)
    version: Named[str] = Column(String(32))
    import_key: Named[str | None] = Column(String(32), unique=True)
    started_at: Named[datetime] = Column(UtcTime)
    finished_at: Named[datetime | None] = Column(UtcTime)
    lease_token: Named[str | None] = Column(String(32))
    lease_holder: Named[Any | None] = Column(JSON)
    lease_until: Named[datetime | None] = Column(UtcTime)


run_table = Table(
    "runs",
    metadata,
    RunColumns,
)


class RunCaseColumns(TypedColumns):
    """A case of a run: the question as asked, and the text it is graded by."""

    run: Named[str] = Column(Text, ForeignKey("runs.id"), primary_key=True)
    case_key: Named[str] = Column(Text, primary_key=True)
    position: Named[int]
    question: Named[str] = Column(String(32))
    text: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))


run_case_table = Table(
    "run_cases",
    metadata,
    RunCaseColumns,
)


class RunEndpointColumns(TypedColumns):
    """An endpoint of a run, with its settings and the model it held."""

    run: Named[str] = Column(Text, ForeignKey("runs.id"), primary_key=True)
    name: Named[str] = Column(Text, primary_key=True)
    position: Named[int]
    settings: Named[Any] = Column(JSON)
    settings_fingerprint: Named[str] = Column(String(32))
    family: Named[str | None] = Column(Text)
    quantisation: Named[str | None] = Column(Text)
    hardware: Named[str | None] = Column(Text)
    model_id: Named[str | None] = Column(Text)
    model_fingerprint: Named[str | None] = Column(String(32))
    slots: Named[int | None]
    slot_context: Named[int | None]
    concurrency: Named[int | None]
    stopped_reason: Named[str | None] = Column(Text)


run_endpoint_table = Table(
    "run_endpoints",
    metadata,
    RunEndpointColumns,
)


class AnswerColumns(TypedColumns):
    """One attempt at one answer; raw is null where it equals text."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    run: Named[str] = Column(Text)
    endpoint: Named[str] = Column(Text)
    case_key: Named[str] = Column(Text)
    repeat: Named[int]
    pass_number: Named[int]
    attempt: Named[int]
    question: Named[str] = Column(String(32))
    model_fingerprint: Named[str | None] = Column(String(32))
    status: Named[str] = Column(String(24))
    text: Named[str] = Column(Text)
    reasoning: Named[str] = Column(Text)
    raw: Named[str | None] = Column(Text)
    finish_reason: Named[str | None] = Column(Text)
    error_detail: Named[str | None] = Column(Text)
    retries: Named[Any | None] = Column(JSON(none_as_null=True))
    prompt_tokens: Named[int | None]
    cached_tokens: Named[int | None]
    completion_tokens: Named[int | None]
    ttfr_ms: Named[float | None]
    ttft_ms: Named[float | None]
    ttfot_ms: Named[float | None]
    total_ms: Named[float | None]
    prefill_tps: Named[float | None]
    decode_tps: Named[float | None]
    timing_source: Named[str] = Column(String(8))
    started_at: Named[datetime] = Column(UtcTime)


answer_table = Table(
    "answers",
    metadata,
    AnswerColumns,
    UniqueConstraint("run", "endpoint", "case_key", "repeat", "pass_number", "attempt"),
    ForeignKeyConstraint(["run", "case_key"], ["run_cases.run", "run_cases.case_key"]),
    ForeignKeyConstraint(["run", "endpoint"], ["run_endpoints.run", "run_endpoints.name"]),
)


class GraderColumns(TypedColumns):
    """Who grades in which layer: a scorer, a judge or a person.

    pseudonym stands for a person in exports; it never changes.
    """

    id: Named[int] = Column(ROW_ID, primary_key=True)
    layer: Named[str] = Column(String(12))
    name: Named[str] = Column(Text)
    family: Named[str | None] = Column(Text)
    pseudonym: Named[str | None] = Column(String(40))


grader_table = Table(
    "graders",
    metadata,
    GraderColumns,
    UniqueConstraint("layer", "name"),
)


class GradeColumns(TypedColumns):
    """One grader's verdict on one answer, or why there is none; only ever added."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    answer_id: Named[int] = Column(ROW_ID, ForeignKey("answers.id"))
    layer: Named[str] = Column(String(12))
    grader_id: Named[int] = Column(ROW_ID, ForeignKey("graders.id"))
    verdict: Named[str | None] = Column(Text)
    unscored_reason: Named[str | None] = Column(String(32))
    rubric: Named[str] = Column(Text)
    rubric_version: Named[str] = Column(Text)
    rubric_fingerprint: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    case_fingerprint: Named[str] = Column(String(32), ForeignKey("texts.fingerprint"))
    evidence: Named[Any | None] = Column(JSON(none_as_null=True))
    rationale: Named[str | None] = Column(Text)
    token: Named[str | None] = Column(String(64), unique=True)
    at: Named[datetime] = Column(UtcTime)
    checkpoints: Named[Any | None] = Column(JSON(none_as_null=True))
    comment: Named[str | None] = Column(Text)
    vote: Named[int | None]
    entropy: Named[float | None]
    campaign: Named[str | None] = Column(Text)
    seen: Named[Any | None] = Column(JSON(none_as_null=True))
    params: Named[Any | None] = Column(JSON(none_as_null=True))
    cost_usd: Named[float | None]
    prompt_fingerprint: Named[str | None] = Column(String(32))


grade_table = Table(
    "grades",
    metadata,
    GradeColumns,
    Index("ix_grades_answer_layer", "answer_id", "layer"),
)
