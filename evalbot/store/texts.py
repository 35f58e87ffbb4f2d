"""Texts by the fingerprint of their content: stored once, readable for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Insert, Table, select

from evalbot.fingerprint import fingerprint
from evalbot.store.schema import text_table

FEW = 500
"""Values in one IN list: SQLite allows no more than some thousand."""


def insert_if_new(connection: Connection, table: Table[Any], key: str | None = None) -> Insert:
    """An insert that leaves out rows whose primary key, or whose column key, is there already."""
    keys = None if key is None else [key]
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table).on_conflict_do_nothing(keys)
    # Imported where it is used: it costs as much as the rest of this file's imports together.
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert

    return postgresql_insert(table).on_conflict_do_nothing(index_elements=keys)


def put_texts(connection: Connection, kind: str, bodies: Iterable[Any]) -> list[str]:
    """Store these texts where they are not there yet; their fingerprints, in order."""
    rows = [{"fingerprint": fingerprint(body), "kind": kind, "body": body} for body in bodies]
    if rows:
        connection.execute(insert_if_new(connection, text_table), rows)
    return [row["fingerprint"] for row in rows]


def get_texts(connection: Connection, fingerprints: Iterable[str]) -> Mapping[str, Any]:
    """The stored texts of these fingerprints."""
    wanted = list(dict.fromkeys(fingerprints))
    found: dict[str, Any] = {}
    for start in range(0, len(wanted), FEW):
        rows = connection.execute(
            select(text_table.c.fingerprint, text_table.c.body).where(
                text_table.c.fingerprint.in_(wanted[start : start + FEW])
            )
        )
        found.update((row.fingerprint, row.body) for row in rows)
    return found
