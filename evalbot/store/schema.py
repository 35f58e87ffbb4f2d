"""The tables. docs/record.md tells what each is for and where later ones will stand.

Rows that say something was said (answers, grades) are only ever added. Texts are stored
once, under the fingerprint of their content. Times are ISO 8601 text in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA_REVISION = "0001"
"""The newest migration; a test compares it with migrations/."""

ROW_ID = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up only on a column that is called INTEGER."""


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime as sortable text, alike on every database."""

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _: Dialect) -> str | None:
        return None if value is None else time_text(value)

    def process_result_value(self, value: str | None, _: Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


def time_text(value: datetime) -> str:
    """ISO 8601 in UTC with microseconds: text order is time order."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Base(DeclarativeBase):
    """All tables of the record. Constraints have names, so that migrations can change them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class TextRow(Base):
    """A case, suite, rubric or prompt, by the fingerprint of its content."""

    __tablename__ = "texts"

    fingerprint: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    body: Mapped[Any] = mapped_column(JSON)


class RunRow(Base):
    """One run. The lease columns say which process works on it."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    suite: Mapped[str] = mapped_column(Text)
    suite_text: Mapped[str] = mapped_column(ForeignKey("texts.fingerprint"))
    rubric_text: Mapped[str] = mapped_column(ForeignKey("texts.fingerprint"))
    label: Mapped[str | None] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    repeats: Mapped[int]
    settings: Mapped[Any] = mapped_column(JSON)
    version: Mapped[str] = mapped_column(String(32))
    import_key: Mapped[str | None] = mapped_column(String(32), unique=True)
    started_at: Mapped[datetime] = mapped_column(UtcTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcTime)
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_holder: Mapped[Any | None] = mapped_column(JSON)
    lease_until: Mapped[datetime | None] = mapped_column(UtcTime)


class RunCaseRow(Base):
    """A case of a run: the question as asked, and the text it is graded by."""

    __tablename__ = "run_cases"

    run: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    case_key: Mapped[str] = mapped_column(Text, primary_key=True)
    position: Mapped[int]
    question: Mapped[str] = mapped_column(String(32))
    text: Mapped[str] = mapped_column(ForeignKey("texts.fingerprint"))


class RunEndpointRow(Base):
    """An endpoint of a run, with its settings and the model it held."""

    __tablename__ = "run_endpoints"

    run: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    position: Mapped[int]
    settings: Mapped[Any] = mapped_column(JSON)
    settings_fingerprint: Mapped[str] = mapped_column(String(32))
    family: Mapped[str | None] = mapped_column(Text)
    quantisation: Mapped[str | None] = mapped_column(Text)
    hardware: Mapped[str | None] = mapped_column(Text)
    model_id: Mapped[str | None] = mapped_column(Text)
    model_fingerprint: Mapped[str | None] = mapped_column(String(32))
    slots: Mapped[int | None]
    slot_context: Mapped[int | None]
    concurrency: Mapped[int | None]
    stopped_reason: Mapped[str | None] = mapped_column(Text)


class AnswerRow(Base):
    """One attempt at one answer; raw is null where it equals text."""

    __tablename__ = "answers"
    __table_args__ = (
        UniqueConstraint("run", "endpoint", "case_key", "repeat", "pass_number", "attempt"),
        ForeignKeyConstraint(["run", "case_key"], ["run_cases.run", "run_cases.case_key"]),
        ForeignKeyConstraint(["run", "endpoint"], ["run_endpoints.run", "run_endpoints.name"]),
    )

    id: Mapped[int] = mapped_column(ROW_ID, primary_key=True)
    run: Mapped[str] = mapped_column(Text)
    endpoint: Mapped[str] = mapped_column(Text)
    case_key: Mapped[str] = mapped_column(Text)
    repeat: Mapped[int]
    pass_number: Mapped[int]
    attempt: Mapped[int]
    question: Mapped[str] = mapped_column(String(32))
    model_fingerprint: Mapped[str | None] = mapped_column(String(32))
    status: Mapped[str] = mapped_column(String(24))
    text: Mapped[str] = mapped_column(Text)
    reasoning: Mapped[str] = mapped_column(Text)
    raw: Mapped[str | None] = mapped_column(Text)
    finish_reason: Mapped[str | None] = mapped_column(Text)
    error_detail: Mapped[str | None] = mapped_column(Text)
    retries: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    prompt_tokens: Mapped[int | None]
    cached_tokens: Mapped[int | None]
    completion_tokens: Mapped[int | None]
    ttfr_ms: Mapped[float | None]
    ttft_ms: Mapped[float | None]
    ttfot_ms: Mapped[float | None]
    total_ms: Mapped[float | None]
    prefill_tps: Mapped[float | None]
    decode_tps: Mapped[float | None]
    timing_source: Mapped[str] = mapped_column(String(8))
    started_at: Mapped[datetime] = mapped_column(UtcTime)


class GraderRow(Base):
    """Who grades in which layer: a scorer, a judge or a person.

    pseudonym stands for a person in exports; it never changes.
    """

    __tablename__ = "graders"
    __table_args__ = (UniqueConstraint("layer", "name"),)

    id: Mapped[int] = mapped_column(ROW_ID, primary_key=True)
    layer: Mapped[str] = mapped_column(String(12))
    name: Mapped[str] = mapped_column(Text)
    family: Mapped[str | None] = mapped_column(Text)
    pseudonym: Mapped[str | None] = mapped_column(String(40))


class GradeRow(Base):
    """One grader's verdict on one answer, or why there is none; only ever added."""

    __tablename__ = "grades"
    __table_args__ = (Index("ix_grades_answer_layer", "answer_id", "layer"),)

    id: Mapped[int] = mapped_column(ROW_ID, primary_key=True)
    answer_id: Mapped[int] = mapped_column(ForeignKey("answers.id"))
    layer: Mapped[str] = mapped_column(String(12))
    grader_id: Mapped[int] = mapped_column(ForeignKey("graders.id"))
    verdict: Mapped[str | None] = mapped_column(Text)
    unscored_reason: Mapped[str | None] = mapped_column(String(32))
    rubric: Mapped[str] = mapped_column(Text)
    rubric_version: Mapped[str] = mapped_column(Text)
    rubric_fingerprint: Mapped[str] = mapped_column(ForeignKey("texts.fingerprint"))
    case_fingerprint: Mapped[str] = mapped_column(ForeignKey("texts.fingerprint"))
    evidence: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    rationale: Mapped[str | None] = mapped_column(Text)
    token: Mapped[str | None] = mapped_column(String(64), unique=True)
    at: Mapped[datetime] = mapped_column(UtcTime)
