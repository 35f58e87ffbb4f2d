"""What is sent along with every prompt: sampling parameters and the rest of the body."""

from __future__ import annotations

import json
from typing import Any

from evalbot.formats.fields import COUNT, Fields
from evalbot.formats.problems import SHOWN_CHARACTERS, nearest, shown
from evalbot.formats.secrets import is_secret_name

KNOWN = (
    "temperature",
    "dynatemp_range",
    "dynatemp_exponent",
    "max_tokens",
    "seed",
    "top_k",
    "top_p",
    "top_n_sigma",
    "min_p",
    "typical_p",
    "xtc_probability",
    "xtc_threshold",
    "repeat_penalty",
    "repeat_last_n",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "dry_multiplier",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
)
MISSPELT = 0.8
"""A key this like a known one is taken for a slip: servers pass over what they do not know."""

OWN_KEYS = {
    "messages": "the cases",
    "prompt": "the cases",
    "model": "`model`",
    "max_tokens": "`sampling`",
    "stream": "evalbot itself",
    "stream_options": "evalbot itself",
    "n": "`--repeats`",
}


def read_sampling(fields: Fields) -> dict[str, Any]:
    """Numbers, true and false; texts and lists belong into extra_body."""
    inner = fields.mapping("sampling")
    if inner is None:
        return {}
    sampling = fields.free("sampling")
    for key, value in sampling.items():
        close = nearest(key, KNOWN, MISSPELT)
        if key not in KNOWN and close is not None:
            expected = f"{close}, or {key} under extra_body if that is meant"
            inner.fault(key, f"unknown key {shown(key)}", expected)
        elif key == "max_tokens" and (type(value) is not int or value < 1):
            inner.fault(key, _found(value), COUNT.words)
        elif not isinstance(value, int | float):
            inner.fault(key, _found(value), "a number; texts and lists go under extra_body")
    return sampling


def read_extra_body(fields: Fields) -> dict[str, Any]:
    """What is merged into each request, but for the keys that are set elsewhere."""
    inner = fields.mapping("extra_body")
    if inner is None:
        return {}
    body = fields.free("extra_body")
    for key in sorted(body.keys() & OWN_KEYS.keys()):
        inner.fault(key, "a key that is not free", f"it set by {OWN_KEYS[key]}")
    for key in sorted(body):
        if is_secret_name(key):
            # What is sent with each request is stored, so that it can be told later.
            inner.fault(key, "a secret", "secrets by api_key_env only")
    return body


def _found(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:SHOWN_CHARACTERS]
