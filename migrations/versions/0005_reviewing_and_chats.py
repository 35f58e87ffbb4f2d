"""Campaigns of people who grade, and chats."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("suite_text", sa.String(length=32), nullable=False),
        sa.Column("rubric_text", sa.String(length=32), nullable=False),
        sa.Column("rubric_rule", sa.String(length=32), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("closed_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["rubric_rule"], ["texts.fingerprint"], name=op.f("fk_campaigns_rubric_rule")
        ),
        sa.ForeignKeyConstraint(
            ["rubric_text"], ["texts.fingerprint"], name=op.f("fk_campaigns_rubric_text")
        ),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_campaigns_run")),
        sa.ForeignKeyConstraint(
            ["suite_text"], ["texts.fingerprint"], name=op.f("fk_campaigns_suite_text")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.create_table(
        "draws",
        sa.Column("campaign", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("policy", sa.String(length=12), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("budget", sa.Integer(), nullable=True),
        sa.Column("chances", sa.JSON(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_draws_campaign")),
        sa.PrimaryKeyConstraint("campaign", "number", name=op.f("pk_draws")),
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("campaign", sa.String(length=16), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("case_key", sa.Text(), nullable=False),
        sa.Column("case_text", sa.String(length=32), nullable=False),
        sa.Column("case_rule", sa.String(length=32), nullable=False),
        sa.Column("purpose", sa.String(length=12), nullable=False),
        sa.Column("answer_id", ROW_ID, nullable=True),
        sa.Column("planted", sa.Text(), nullable=True),
        sa.Column("known", sa.Text(), nullable=True),
        sa.Column("draw_probability", sa.Double(), nullable=True),
        sa.Column("stratum", sa.Text(), nullable=True),
        sa.Column("volunteer", sa.Boolean(), nullable=False),
        sa.Column("made_at", sa.String(length=32), nullable=False),
        sa.Column("inclusion_probability", sa.Double(), nullable=True),
        sa.Column("withdrawn_at", sa.String(length=32), nullable=True),
        sa.Column("done_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_assignments_answer_id")
        ),
        sa.ForeignKeyConstraint(
            ["campaign"], ["campaigns.id"], name=op.f("fk_assignments_campaign")
        ),
        sa.ForeignKeyConstraint(
            ["case_rule"], ["texts.fingerprint"], name=op.f("fk_assignments_case_rule")
        ),
        sa.ForeignKeyConstraint(
            ["case_text"], ["texts.fingerprint"], name=op.f("fk_assignments_case_text")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint(
            "campaign",
            "reviewer",
            "item",
            "position",
            name=op.f("uq_assignments_campaign_reviewer_item_position"),
        ),
    )
    op.create_index("ix_assignments_answer", "assignments", ["answer_id"], unique=False)
    op.create_index(
        "ix_assignments_queue",
        "assignments",
        ["campaign", "reviewer", "withdrawn_at", "done_at", "item"],
        unique=False,
    )
    op.create_table(
        "drafts",
        sa.Column("assignment", sa.String(length=24), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("ticked", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"], ["assignments.id"], name=op.f("fk_drafts_assignment")
        ),
        sa.PrimaryKeyConstraint("assignment", name=op.f("pk_drafts")),
    )
    op.create_table(
        "review_places",
        sa.Column("campaign", sa.String(length=16), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"], ["campaigns.id"], name=op.f("fk_review_places_campaign")
        ),
        sa.PrimaryKeyConstraint("campaign", "reviewer", name=op.f("pk_review_places")),
    )
    op.create_table(
        "known_grades",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("assignment", sa.String(length=24), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("unscored_reason", sa.String(length=32), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("checkpoints", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"], ["assignments.id"], name=op.f("fk_known_grades_assignment")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_known_grades")),
        sa.UniqueConstraint("token", name=op.f("uq_known_grades_token")),
    )
    op.create_index("ix_known_grades_assignment", "known_grades", ["assignment"], unique=False)
    op.create_table(
        "held_answers",
        sa.Column("answer_id", ROW_ID, nullable=False),
        sa.Column("names", sa.JSON(), nullable=False),
        sa.Column("decision", sa.String(length=12), nullable=True),
        sa.Column("shown", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=True),
        sa.Column("at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answers.id"], name=op.f("fk_held_answers_answer_id")
        ),
        sa.PrimaryKeyConstraint("answer_id", name=op.f("pk_held_answers")),
    )
    op.create_table(
        "chats",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("is_blind", sa.Boolean(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["origin"], ["chats.id"], name=op.f("fk_chats_origin")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chats")),
    )
    op.create_table(
        "chat_turns",
        sa.Column("chat", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("order", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_chat_turns_chat")),
        sa.PrimaryKeyConstraint("chat", "number", name=op.f("pk_chat_turns")),
    )
    op.create_table(
        "chat_answers",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("chat", sa.String(length=16), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=True),
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
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_chat_answers_chat")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_answers")),
        sa.UniqueConstraint(
            "chat", "turn", "endpoint", name=op.f("uq_chat_answers_chat_turn_endpoint")
        ),
    )
    op.create_table(
        "votes",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("chat", sa.String(length=16), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("grades", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("voter", sa.Text(), nullable=False),
        sa.Column("is_blind", sa.Boolean(), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_votes_chat")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_votes")),
        sa.UniqueConstraint("token", name=op.f("uq_votes_token")),
    )
