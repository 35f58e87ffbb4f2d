"""What all tables share: where they are collected, row numbers, and times as text in UTC."""

from __future__ import annotations

import functools
from datetime import UTC, datetime

from sqlalchemy import BigInteger, Dialect, Integer, MetaData, String, TypeDecorator

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


@functools.lru_cache(maxsize=64)
def time_text(value: datetime) -> str:
    """ISO 8601 in UTC with microseconds: text order is time order."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""All tables of the record. Constraints have names, so that migrations can change them."""
