"""The tables of people: who signs in, and from which browsers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, Named, String, Table, Text, TypedColumns

from evalbot.store.columns import ROW_ID, UtcTime, metadata


class UserColumns(TypedColumns):
    """A person. failures: wrong passwords since the last right one, and when the last was."""

    id: Named[int] = Column(ROW_ID, primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    role: Named[str] = Column(String(12))
    password: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(UtcTime)
    disabled_at: Named[datetime | None] = Column(UtcTime)
    failures: Named[int]
    failed_at: Named[datetime | None] = Column(UtcTime)


user_table = Table(
    "users",
    metadata,
    UserColumns,
)


class SessionColumns(TypedColumns):
    """A signed-in browser. token: the fingerprint of what its cookie holds, never that itself."""

    token: Named[str] = Column(String(64), primary_key=True)
    user_id: Named[int] = Column(ROW_ID, ForeignKey("users.id"))
    created_at: Named[datetime] = Column(UtcTime)
    until: Named[datetime] = Column(UtcTime)


session_table = Table(
    "sessions",
    metadata,
    SessionColumns,
    Index("ix_sessions_user", "user_id"),
)
