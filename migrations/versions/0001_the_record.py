"""The record: texts, runs with their cases and endpoints, answers, graders, grades."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "graders",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("layer", sa.String(length=12), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=True),
        sa.Column("pseudonym", sa.String(length=40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_graders")),
        sa.UniqueConstraint("layer", "name", name=op.f("uq_graders_layer_name")),
    )
    op.create_table(
        "texts",
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_texts")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("suite_text", sa.String(length=32), nullable=False),
        sa.Column("rubric_text", sa.String(length=32), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("import_key", sa.String(length=32), nullable=True),
        sa.Column("started_at", sa.String(length=32), nullable=False),
        sa.Column("finished_at", sa.String(length=32), nullable=True),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_holder", sa.JSON(), nullable=True),
        sa.Column("lease_until", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["rubric_text"], ["texts.fingerprint"], name=op.f("fk_runs_rubric_text")
        ),
        sa.ForeignKeyConstraint(
            ["suite_text"], ["texts.fingerprint"], name=op.f("fk_runs_suite_text")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("import_key", name=op.f("uq_runs_import_key")),
    )
    op.create_table(
        "run_cases",
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(length=32), nullable=False),
        sa.Column("text", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_run_cases_run")),
        sa.ForeignKeyConstraint(["text"], ["texts.fingerprint"], name=op.f("fk_run_cases_text")),
        sa.PrimaryKeyConstraint("run", "case_key", name=op.f("pk_run_cases")),
    )
    op.create_table(
        "run_endpoints",
        sa.Column("run", sa.Text(), nullable=False),
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
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_run_endpoints_run")),
        sa.PrimaryKeyConstraint("run", "name", name=op.f("pk_run_endpoints")),
    )
    op.create_table(
        "answers",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("pass_number", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(length=32), nullable=False),
        sa.Column("model_fingerprint", sa.String(length=32), nullable=True),
        sa.Column("status", sa.String(length=24), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reasoning", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=True),
        sa.Column("finish_reason", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("retries", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("ttfr_ms", sa.Double(), nullable=True),
        sa.Column("ttft_ms", sa.Double(), nullable=True),
        sa.Column("ttfot_ms", sa.Double(), nullable=True),
        sa.Column("total_ms", sa.Double(), nullable=True),
        sa.Column("prefill_tps", sa.Double(), nullable=True),
        sa.Column("decode_tps", sa.Double(), nullable=True),
        sa.Column("timing_source", sa.String(length=8), nullable=False),
        sa.Column("started_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["run", "case_key"],
            ["run_cases.run", "run_cases.case_key"],
            name=op.f("fk_answers_run_case_key"),
        ),
        sa.ForeignKeyConstraint(
            ["run", "endpoint"],
            ["run_endpoints.run", "run_endpoints.name"],
            name=op.f("fk_answers_run_endpoint"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint(
            "run",
            "endpoint",
            "case_key",
            "repeat",
            "pass_number",
            "attempt",
            name=op.f("uq_answers_run_endpoint_case_key_repeat_pass_number_attempt"),
        ),
    )
    op.create_table(
        "grades",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("answer_id", ROW_ID, nullable=False),
        sa.Column("layer", sa.String(length=12), nullable=False),
        sa.Column("grader_id", ROW_ID, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("unscored_reason", sa.String(length=32), nullable=True),
        sa.Column("rubric", sa.Text(), nullable=False),
        sa.Column("rubric_version", sa.Text(), nullable=False),
        sa.Column("rubric_fingerprint", sa.String(length=32), nullable=False),
        sa.Column("case_fingerprint", sa.String(length=32), nullable=False),
        sa.Column("evidence", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=True),
        sa.Column("token", sa.String(length=64), nullable=True),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name=op.f("fk_grades_answer_id")),
        sa.ForeignKeyConstraint(
            ["case_fingerprint"], ["texts.fingerprint"], name=op.f("fk_grades_case_fingerprint")
        ),
        sa.ForeignKeyConstraint(["grader_id"], ["graders.id"], name=op.f("fk_grades_grader_id")),
        sa.ForeignKeyConstraint(
            ["rubric_fingerprint"], ["texts.fingerprint"], name=op.f("fk_grades_rubric_fingerprint")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grades")),
        sa.UniqueConstraint("token", name=op.f("uq_grades_token")),
    )
    op.create_index("ix_grades_answer_layer", "grades", ["answer_id", "layer"], unique=False)
