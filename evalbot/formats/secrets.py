"""Telling the name of a variable from the key it holds."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
KEY_PREFIXES = ("sk-", "sk_", "hf_", "gsk_", "ghp_", "xai-", "pk_", "AIza", "AKIA", "eyJ")
SHORTEST_KEY = 20
SECRET_NAME = re.compile(
    r"(?:key|secret|password|passwd|authorization|bearer|(?:^|api|auth|access).?token)$",
    re.IGNORECASE,
)


def is_secret_name(text: str) -> bool:
    """Whether something of this name would be a secret."""
    return SECRET_NAME.search(text) is not None


def is_variable_name(text: str) -> bool:
    """Whether this can be an environment variable's name and does not look like a key."""
    if not NAME.fullmatch(text) or text.startswith(KEY_PREFIXES):
        return False
    has_digit = any(c.isdigit() for c in text)
    mixed = text.upper() != text != text.lower()
    return not (len(text) >= SHORTEST_KEY and has_digit and (mixed or "_" not in text))
