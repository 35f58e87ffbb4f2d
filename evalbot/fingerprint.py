"""Content fingerprints: the same content has the same name, wherever and whenever."""

from __future__ import annotations

import hashlib
import json
from typing import Any

# Made once: json.dumps would make a new one for every value.
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, real characters."""
    return _ENCODER.encode(value)


def fingerprint(value: Any) -> str:
    """128 bits of SHA-256 over the canonical JSON, as 32 hexadecimal digits."""
    text = canonical_json(value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
