"""Addresses in evalbot.yaml: of endpoints, and of the database. Neither may carry a secret."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from evalbot.errors import InputError
from evalbot.formats.problems import shown

SQLITE = "sqlite:///"
DATABASE_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg")
DATABASE_EXAMPLES = "sqlite:///FILE or postgresql+psycopg://user@host/db"
PASSWORD_ADVICE = "no password in it: set PGPASSWORD or use ~/.pgpass"
SECRET_QUERY_KEYS = frozenset({"password", "sslpassword"})


class Unfit(Exception):  # noqa: N818 - not an error of evalbot, only a problem's two halves
    """Why an address cannot be used. Never holds a secret."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}; expected {expected}")
        self.found = found
        self.expected = expected


def http_url(text: str) -> str:
    """The base URL without a slash at its end. Raises Unfit."""
    expected = "an http:// or https:// address such as http://127.0.0.1:8080/v1"
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise Unfit("an address that cannot be read", expected) from None
    if parts.username is not None or parts.password is not None:
        raise Unfit("credentials in the address", "none: name a variable in api_key_env")
    if parts.query or parts.fragment:
        raise Unfit("a ? or # part", "the bare address; keys go by api_key_env")
    if parts.scheme not in ("http", "https") or not has_host or re.search(r"\s", text):
        raise Unfit(shown(text), expected)
    return text.rstrip("/")


def database_url(text: str, folder: Path) -> str:
    """The database's URL, a relative SQLite path taken from the folder.

    Raises InputError, which never repeats a password.
    """
    try:
        return resolve_database(text, folder)
    except Unfit as unfit:
        raise InputError(f"database: {unfit}") from None


def resolve_database(text: str, folder: Path) -> str:
    """As database_url, but raises Unfit."""
    try:
        parts = urlsplit(text)
        password = parts.password
        keys = {key.casefold() for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
    except ValueError:
        raise Unfit("an address that cannot be read", DATABASE_EXAMPLES) from None
    if password is not None or keys & SECRET_QUERY_KEYS:
        raise Unfit("a password in the address", PASSWORD_ADVICE)
    if parts.scheme not in DATABASE_SCHEMES:
        raise Unfit("another kind of address", DATABASE_EXAMPLES)
    if parts.scheme != "sqlite":
        if not parts.hostname and not parts.query:
            raise Unfit("no host", DATABASE_EXAMPLES)
        return text
    path, mark, query = text.removeprefix(SQLITE).partition("?")
    if not text.startswith(SQLITE) or not path or path.startswith((":memory:", "file:")):
        raise Unfit(shown(text), "sqlite:///FILE, a file on this machine")
    return f"{SQLITE}{(folder / path).absolute().as_posix()}{mark}{query}"
