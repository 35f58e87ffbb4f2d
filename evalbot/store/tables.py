"""Every table of the record, and the migration they stand at."""

from __future__ import annotations

from evalbot.store import (
    chat_schema,
    judge_schema,
    people_schema,
    review_schema,
    schema,
    speed_schema,
)
from evalbot.store.columns import metadata as metadata

SCHEMA_REVISION = "0005"
"""The newest migration; a test compares it with migrations/."""

PARTS = (schema, speed_schema, judge_schema, people_schema, review_schema, chat_schema)
"""Where the tables are defined: importing them makes `metadata` know them."""
