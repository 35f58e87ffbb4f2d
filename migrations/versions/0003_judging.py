"""Judging: what a judge's and a reviewer's grade keep, batches of requests, probes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    for column in (
        sa.Column("checkpoints", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("vote", sa.Integer(), nullable=True),
        sa.Column("entropy", sa.Double(), nullable=True),
        sa.Column("campaign", sa.Text(), nullable=True),
        sa.Column("seen", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("params", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("prompt_fingerprint", sa.String(length=32), nullable=True),
    ):
        op.add_column("grades", column)
    op.create_table(
        "batches",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("sent_at", sa.String(length=32), nullable=True),
        sa.Column("fetched_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_batches_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    op.create_index("ix_batches_run", "batches", ["run"], unique=False)
    op.create_table(
        "batch_items",
        sa.Column("batch", sa.String(length=32), nullable=False),
        sa.Column("custom_id", sa.String(length=64), nullable=False),
        sa.Column("answer_id", ROW_ID, nullable=False),
        sa.Column("identity", sa.String(length=32), nullable=False),
        sa.Column("vote", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_batch_items_answer_id")
        ),
        sa.ForeignKeyConstraint(["batch"], ["batches.id"], name=op.f("fk_batch_items_batch")),
        sa.PrimaryKeyConstraint("batch", "custom_id", name=op.f("pk_batch_items")),
    )
    op.create_table(
        "probes",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("grader_id", ROW_ID, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("answer_id", ROW_ID, nullable=True),
        sa.Column("other_id", ROW_ID, nullable=True),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("unscored_reason", sa.String(length=32), nullable=True),
        sa.Column("rubric_fingerprint", sa.String(length=32), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("evidence", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("prompt_fingerprint", sa.String(length=32), nullable=True),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name=op.f("fk_probes_answer_id")),
        sa.ForeignKeyConstraint(["grader_id"], ["graders.id"], name=op.f("fk_probes_grader_id")),
        sa.ForeignKeyConstraint(["other_id"], ["answers.id"], name=op.f("fk_probes_other_id")),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_probes_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probes")),
        sa.UniqueConstraint("token", name=op.f("uq_probes_token")),
    )
    op.create_index("ix_probes_run", "probes", ["run"], unique=False)
