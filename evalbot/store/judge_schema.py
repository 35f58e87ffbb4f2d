"""The tables of judging besides grades: requests sent together, and probes of the judge itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKey, Index, Named, String, Table, Text, TypedColumns

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class BatchColumns(TypedColumns):
    """Requests to one judge that are sent together; written before they are sent.

    state: prepared, sent or fetched. provider_id is null until the provider's reply is written
    down; params: what goes with every request.
    """

    id: Named[str] = Column(String(32), primary_key=True)
    run: Named[str] = Column(Text, ForeignKey("runs.id"))
    judge: Named[str] = Column(Text)
    state: Named[str] = Column(String(16))
    provider_id: Named[str | None] = Column(Text)
    params: Named[Any] = Column(JSON)
    size: Named[int]
    created_at: Named[datetime] = Column(UtcTime)
    sent_at: Named[datetime | None] = Column(UtcTime)
    fetched_at: Named[datetime | None] = Column(UtcTime)


batch_table = Table(
    "batches",
    metadata,
    BatchColumns,
    Index("ix_batches_run", "run"),
)


class BatchItemColumns(TypedColumns):
    """One request of a batch, under our own id; vote: the grade it will be, but for the reply."""

    batch: Named[str] = Column(String(32), ForeignKey("batches.id"), primary_key=True)
    custom_id: Named[str] = Column(String(64), primary_key=True)
    answer_id: Named[int] = Column(ROW_ID, ForeignKey("answers.id"))
    identity: Named[str] = Column(String(32))
    vote: Named[Any] = Column(JSON)


batch_item_table = Table(
    "batch_items",
    metadata,
    BatchItemColumns,
)


class ProbeColumns(TypedColumns):
    """One before-and-after of a judge.

    answer_id is null where the judge was shown no model's answer but the case's own text.
    other_id: the second answer of a pair. after is null where the reply gave no verdict.
    """

    id: Named[int] = Column(ROW_ID, primary_key=True)
    run: Named[str] = Column(Text, ForeignKey("runs.id"))
    grader_id: Named[int] = Column(ROW_ID, ForeignKey("graders.id"))
    kind: Named[str] = Column(String(16))
    case_key: Named[str] = Column(Text)
    answer_id: Named[int | None] = Column(ROW_ID, ForeignKey("answers.id"))
    other_id: Named[int | None] = Column(ROW_ID, ForeignKey("answers.id"))
    before: Named[str] = Column(Text)
    after: Named[str | None] = Column(Text)
    unscored_reason: Named[str | None] = Column(String(32))
    rubric_fingerprint: Named[str] = Column(String(32))
    params: Named[Any] = Column(JSON)
    evidence: Named[Any | None] = Column(JSON(none_as_null=True))
    cost_usd: Named[float | None]
    prompt_fingerprint: Named[str | None] = Column(String(32))
    token: Named[str] = Column(String(64), unique=True)
    at: Named[datetime] = Column(UtcTime)


probe_table = Table(
    "probes",
    metadata,
    ProbeColumns,
    Index("ix_probes_run", "run"),
)
