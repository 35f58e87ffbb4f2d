"""Speed: sweeps with their endpoints, samples and readings, and imported rows."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "speed_sweeps",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("plan", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("import_key", sa.String(length=32), nullable=True),
        sa.Column("started_at", sa.String(length=32), nullable=False),
        sa.Column("finished_at", sa.String(length=32), nullable=True),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_holder", sa.JSON(), nullable=True),
        sa.Column("lease_until", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_speed_sweeps")),
        sa.UniqueConstraint("import_key", name=op.f("uq_speed_sweeps_import_key")),
    )
    op.create_table(
        "speed_endpoints",
        sa.Column("sweep", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("settings_fingerprint", sa.String(length=32), nullable=False),
        sa.Column("family", sa.Text(), nullable=True),
        sa.Column("quantisation", sa.Text(), nullable=True),
        sa.Column("hardware", sa.Text(), nullable=True),
        sa.Column("model_id", sa.Text(), nullable=True),
        sa.Column("model_fingerprint", sa.String(length=32), nullable=True),
        sa.Column("slots", sa.Integer(), nullable=True),
        sa.Column("slot_context", sa.Integer(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("stopped_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["sweep"], ["speed_sweeps.id"], name=op.f("fk_speed_endpoints_sweep")
        ),
        sa.PrimaryKeyConstraint("sweep", "name", name=op.f("pk_speed_endpoints")),
    )
    op.create_table(
        "speed_rows",
        sa.Column("sweep", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["sweep"], ["speed_sweeps.id"], name=op.f("fk_speed_rows_sweep")),
        sa.PrimaryKeyConstraint("sweep", "position", name=op.f("pk_speed_rows")),
    )
    op.create_table(
        "speed_readings",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("sweep", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("moment", sa.String(length=12), nullable=False),
        sa.Column("context", sa.Integer(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("repeat", sa.Integer(), nullable=True),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["sweep", "endpoint"],
            ["speed_endpoints.sweep", "speed_endpoints.name"],
            name=op.f("fk_speed_readings_sweep_endpoint"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_speed_readings")),
    )
    op.create_index("ix_speed_readings_sweep", "speed_readings", ["sweep"], unique=False)
    op.create_table(
        "speed_samples",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("sweep", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("context", sa.Integer(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("stream", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=24), nullable=False),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("offset_ms", sa.Double(), nullable=False),
        sa.Column("ttfr_ms", sa.Double(), nullable=True),
        sa.Column("ttft_ms", sa.Double(), nullable=True),
        sa.Column("ttfot_ms", sa.Double(), nullable=True),
        sa.Column("total_ms", sa.Double(), nullable=True),
        sa.Column("prefill_tps", sa.Double(), nullable=True),
        sa.Column("decode_tps", sa.Double(), nullable=True),
        sa.Column("stream_tps", sa.Double(), nullable=True),
        sa.Column("timing_source", sa.String(length=8), nullable=False),
        sa.Column("started_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["sweep", "endpoint"],
            ["speed_endpoints.sweep", "speed_endpoints.name"],
            name=op.f("fk_speed_samples_sweep_endpoint"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_speed_samples")),
        sa.UniqueConstraint(
            "sweep",
            "endpoint",
            "context",
            "concurrency",
            "repeat",
            "stream",
            name=op.f("uq_speed_samples_sweep_endpoint_context_concurrency_repeat_stream"),
        ),
    )
