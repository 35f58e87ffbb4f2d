"""JSON and JSON lines to a tree of texts."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries, Items, Node, Scalar


class _Number(NamedTuple):
    """A JSON number as it was written."""

    text: str


class _Pairs(NamedTuple):
    """A JSON object with its keys as they came, repeated ones too."""

    pairs: list[tuple[str, Any]]


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word}, which is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_refuse_constant,
)


def parse_json(text: str, file: str, line: int, problems: Problems, field: str = "") -> Node | None:
    """The tree of a JSON text; None, with a problem noted, where broken. line: where it stands."""
    place = f"{file}:{line}"
    try:
        return _node(_DECODER.decode(text), place, line, problems)
    except json.JSONDecodeError as error:
        problems.add(place, field, "", f"valid JSON ({error.msg} at character {error.pos + 1})")
    except ValueError as error:
        problems.add(place, field, str(error), "valid JSON")
    except RecursionError:
        problems.add(place, field, "lists or objects nested too deep", "a few levels")
    return None


def parse_jsonl(text: str, file: str, problems: Problems) -> list[Entries]:
    """One object a line; blank lines are passed over. Broken lines are noted and left out."""
    records = []
    # Not splitlines(): JSON allows U+2028 and its like inside a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        node = parse_json(line, file, number, problems)
        if isinstance(node, Entries):
            records.append(node)
        elif node is not None:
            problems.add(f"{file}:{number}", "", shown(line.strip()), "a JSON object a line")
    return records


def _node(value: Any, place: str, line: int, problems: Problems) -> Node:
    if isinstance(value, str):
        return Scalar(value, line, quoted=True)
    if isinstance(value, _Number):
        return Scalar(value.text, line)
    if isinstance(value, _Pairs):
        values: dict[str, Node] = {}
        for key, inner in value.pairs:
            if key in values:
                problems.add(place, "", f"key {shown(key)} twice", "each key once")
            values[key] = _node(inner, place, line, problems)
        return Entries(values, line)
    if isinstance(value, list):
        return Items(tuple(_node(inner, place, line, problems) for inner in value), line)
    if value is None:
        return Scalar("null", line)
    return Scalar("true" if value else "false", line, boolean=True)
