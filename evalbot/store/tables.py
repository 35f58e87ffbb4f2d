"""Every table of the record, and the migration they stand at."""

from __future__ import annotations

from evalbot.store import schema, speed_schema
from evalbot.store.columns import metadata as metadata

SCHEMA_REVISION = "0002"
"""The newest migration; a test compares it with migrations/."""

PARTS = (schema, speed_schema)
"""Where the tables are defined: importing them makes `metadata` know them."""
