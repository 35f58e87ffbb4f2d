"""Values of mappings whose keys belong to somebody else: what is sent to a model's server."""

from __future__ import annotations

import math
import re

from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries, Items, Node, Scalar

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"-?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")
LONGEST_INTEGER = 1000
WORDS = {"true": True, "false": False}


def free_value(node: Node, file: str, field: str, problems: Problems) -> object:
    """The value as JSON would type it: what is quoted stays text, and so do `off` and `yes`."""
    if isinstance(node, Entries):
        return {
            key: free_value(value, file, f"{field}.{key}", problems)
            for key, value in node.values.items()
        }
    if isinstance(node, Items):
        return [
            free_value(value, file, f"{field}[{at}]", problems)
            for at, value in enumerate(node.values)
        ]
    if node.is_null:
        return None
    if node.quoted:
        return node.text
    if node.text in WORDS:
        return WORDS[node.text]
    return _number_or_text(node, file, field, problems)


def _number_or_text(node: Scalar, file: str, field: str, problems: Problems) -> object:
    text = node.text
    if INTEGER.fullmatch(text) and len(text) <= LONGEST_INTEGER:
        return int(text)
    if not NUMBER.fullmatch(text):
        return text
    value = float(text)
    if not math.isfinite(value):
        problems.add(f"{file}:{node.line}", field, shown(text), "a smaller number, or quoted text")
    return value
