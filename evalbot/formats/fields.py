"""Reading a mapping field by field, each by its type."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, overload

from evalbot.domain.chats import ALL_BAD, GRADED, TIE
from evalbot.formats.free import free_value
from evalbot.formats.problems import Problems, nearest, one_of, shown
from evalbot.formats.tree import Entries, Items, Node, Scalar

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
UNPRINTABLE = frozenset({"Cc", "Zl", "Zp"})
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Bounds(NamedTuple):
    """Which numbers a field takes, in words and in figures."""

    words: str
    at_least: float = -math.inf
    above: float = -math.inf
    at_most: float = math.inf

    def hold(self, value: float) -> bool:
        """Whether the number lies inside."""
        return self.at_least <= value <= self.at_most and value > self.above


CHECK_SUFFIX = " +check"
"""Ends the name of a model whose self-checked answers are shown."""

ABOVE_ZERO = Bounds("a number above 0", above=0)
NOT_NEGATIVE = Bounds("a number of 0 or more", at_least=0)
SHARE = Bounds("a number from 0 to 1", at_least=0, at_most=1)
RATIO = Bounds("a number from 0 to 100", at_least=0, at_most=100)
COUNT = Bounds("a whole number of 1 or more", at_least=1)
COUNT_OR_ZERO = Bounds("a whole number of 0 or more", at_least=0)


class Fields:
    """One mapping of a file, read field by field.

    A wrong value is noted as a problem and a stand-in of the right type comes back, so
    that reading goes on and finds the rest. finish() notes the keys nobody asked for.
    """

    def __init__(self, entries: Entries, file: str, problems: Problems, path: str = "") -> None:
        self.entries = entries
        self.file = file
        self.problems = problems
        self.path = path
        self._known: dict[str, None] = {}

    def fault(self, name: str, found: str, expected: str) -> None:
        """Note a problem with a field of this mapping."""
        node = self.entries.values.get(name)
        line = self.entries.line if node is None else node.line
        self.problems.add(f"{self.file}:{line}", self._dotted(name), found, expected)

    def has(self, name: str) -> bool:
        """Whether something stands in the field."""
        return self._node(name) is not None

    def require(self, name: str, expected: str) -> None:
        """Note a problem where nothing stands in the field."""
        if not self.has(name):
            self.fault(name, "nothing", expected)

    def text(self, name: str, expected: str = "text") -> str:
        """Text that must be there and must not be blank."""
        node = self._node(name)
        if node is None or (isinstance(node, Scalar) and not node.text.strip()):
            self.fault(name, "nothing", expected)
            return ""
        return self._text_of(node, name, expected) or ""

    def optional_text(self, name: str, expected: str = "text") -> str | None:
        """Text, or None where nothing or only white space stands."""
        node = self._node(name)
        if node is None:
            return None
        text = self._text_of(node, name, expected)
        return text if text and not text.isspace() else None

    def text_or_blank(self, name: str) -> str:
        """Text that must be there but may be blank, as an empty answer is."""
        node = self._node(name)
        if node is not None:
            return self._text_of(node, name, "text") or ""
        # An empty cell of a table is a blank text here, but null and a missing key are not.
        if self.entries.values.get(name) != Scalar("", self.entries.line):
            self.fault(name, "nothing", "text, or a blank one")
        return ""

    def name(self, name: str = "name") -> str:
        """A required name: one line, no white space around it."""
        text = self.text(name)
        if text != text.strip() or _has_unprintable(text):
            self.fault(name, shown(text), "no white space around it and no control characters")
        return text

    def listed_name(self, name: str = "name") -> str:
        """A name that may stand in a list of names."""
        text = self.name(name)
        if "," in text:
            self.fault(name, shown(text), "no comma: lists of names are separated by commas")
        return text

    def model_name(self, name: str) -> str:
        """The name of a model in tables: of an endpoint, or one that comes with an import."""
        text = self.listed_name(name)
        if text.endswith(CHECK_SUFFIX):
            self.fault(name, shown(text), f"another ending: {CHECK_SUFFIX!r} marks self-checks")
        if text in (TIE, ALL_BAD, GRADED):
            self.fault(name, shown(text), "another name: votes in chats use this word")
        return text

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, none of them blank; empty where nothing stands."""
        texts = []
        for at, node in self._list(name, "a list of texts, e.g. [one, two]"):
            text = self._text_of(node, at, "text")
            if text is not None and not text.strip():
                self._fault_at(node, at, "a blank text", "text")
            texts.append(text or "")
        return tuple(texts)

    def arguments(self, name: str) -> tuple[str, ...]:
        """A command as the list of its arguments; empty where nothing stands."""
        nodes = self._list(name, 'a list of arguments, e.g. [./start.sh, --port, "8080"]')
        texts = [self._text_of(node, at, "text") for at, node in nodes]
        if texts and texts[0] is not None and not texts[0].strip():
            self.fault(name, "a blank command", "the command as the first argument")
        return tuple(text or "" for text in texts)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """One word of several; required where there is no default."""
        node = self._node(name)
        if node is None:
            if default is None:
                self.fault(name, "nothing", f"one of {', '.join(choices)}")
            return choices[0] if default is None else default
        text = self._text_of(node, name, f"one of {', '.join(choices)}")
        if text is not None and text not in choices:
            self.fault(name, shown(text), one_of(choices, text))
        return text if text is not None and text in choices else choices[0]

    def choices(self, name: str, choices: Sequence[str]) -> tuple[str, ...]:
        """A list of words out of several, each at most once."""
        words = self.texts(name)
        for at, word in enumerate(words):
            if word not in choices:
                self.fault(name, shown(word), one_of(choices, word))
            elif word in words[:at]:
                self.fault(name, f"{word} twice", "each word once")
        return words

    @overload
    def number(self, name: str, bounds: Bounds, default: float) -> float: ...
    @overload
    def number(self, name: str, bounds: Bounds, default: None = None) -> float | None: ...
    def number(self, name: str, bounds: Bounds, default: float | None = None) -> float | None:
        """A finite number inside the bounds; the default where nothing stands."""
        text = self._figure(name, bounds)
        if text is None:
            return default
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if math.isfinite(value) and bounds.hold(value):
            return value
        self.fault(name, shown(text), bounds.words)
        return default

    @overload
    def integer(self, name: str, bounds: Bounds, default: int) -> int: ...
    @overload
    def integer(self, name: str, bounds: Bounds, default: None = None) -> int | None: ...
    def integer(self, name: str, bounds: Bounds, default: int | None = None) -> int | None:
        """A whole number inside the bounds; the default where nothing stands."""
        text = self._figure(name, bounds)
        if text is None:
            return default
        if INTEGER.fullmatch(text) and bounds.hold(int(text)):
            return int(text)
        self.fault(name, shown(text), bounds.words)
        return default

    def mapping(self, name: str) -> Fields | None:
        """The fields of a mapping inside this one; None where nothing stands."""
        node = self._node(name)
        return None if node is None else self._fields(node, name)

    def mappings(self, name: str) -> list[Fields]:
        """A list of mappings; empty where nothing stands."""
        nodes = self._list(name, "a list")
        inner = [self._fields(node, at) for at, node in nodes]
        return [fields for fields in inner if fields is not None]

    def named_mappings(self, name: str) -> dict[str, Fields]:
        """A mapping from names to mappings; empty where nothing stands."""
        outer = self.mapping(name)
        if outer is None:
            return {}
        return {key: outer.mapping(key) or outer._empty(key) for key in outer.entries.values}

    def free(self, name: str) -> dict[str, object]:
        """A mapping whose keys are not ours, its values typed as JSON would type them."""
        node = self._node(name)
        if node is None:
            return {}
        if not isinstance(node, Entries):
            self.fault(name, _kind(node), "a mapping, e.g. {temperature: 0}")
            return {}
        return {
            key: free_value(value, self.file, f"{self._dotted(name)}.{key}", self.problems)
            for key, value in node.values.items()
        }

    def is_text(self, name: str) -> bool:
        """Whether a single text stands in the field."""
        return isinstance(self._node(name), Scalar)

    def finish(self) -> None:
        """Note every key that no field was read from."""
        for key, node in self.entries.values.items():
            if key in self._known:
                continue
            close = nearest(key, self._known)
            hint = f"did you mean {close}?" if close else f"one of {', '.join(self._known)}"
            place = f"{self.file}:{node.line}"
            found = f"unknown key {shown(key)}"
            self.problems.add(place, self.path, found, f"a known key: {hint}")

    def _dotted(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _node(self, name: str) -> Node | None:
        self._known[name] = None
        node = self.entries.values.get(name)
        return None if isinstance(node, Scalar) and node.is_null else node

    def _fault_at(self, node: Node, name: str, found: str, expected: str) -> None:
        self.problems.add(f"{self.file}:{node.line}", self._dotted(name), found, expected)

    def _text_of(self, node: Node, name: str, expected: str) -> str | None:
        if not isinstance(node, Scalar) or node.boolean:
            self._fault_at(node, name, _kind(node), expected)
            return None
        if node.is_null:
            self._fault_at(node, name, "nothing", expected)
            return None
        if UNSTORABLE.search(node.text):
            found = "a NUL character or half a surrogate pair"
            self._fault_at(node, name, found, "whole characters")
            return None
        return node.text

    def _figure(self, name: str, bounds: Bounds) -> str | None:
        """The text of a number field; None where nothing, or no single value, stands."""
        node = self._node(name)
        if node is None:
            return None
        if isinstance(node, Scalar):
            return node.text
        self.fault(name, _kind(node), bounds.words)
        return None

    def _list(self, name: str, expected: str) -> list[tuple[str, Node]]:
        """The elements of a list, each with its name in problems."""
        node = self._node(name)
        if node is None:
            return []
        if not isinstance(node, Items):
            self.fault(name, _kind(node), expected)
            return []
        return [(f"{name}[{at}]", value) for at, value in enumerate(node.values)]

    def _fields(self, node: Node, name: str) -> Fields | None:
        if not isinstance(node, Entries):
            self._fault_at(node, name, _kind(node), "a mapping of keys to values")
            return None
        return Fields(node, self.file, self.problems, self._dotted(name))

    def _empty(self, name: str) -> Fields:
        line = self.entries.values[name].line
        return Fields(Entries({}, line), self.file, self.problems, self._dotted(name))


def root_fields(node: Node | None, file: str, problems: Problems) -> Fields:
    """The fields of a file's outermost mapping; an empty file is an empty mapping."""
    if isinstance(node, Entries):
        return Fields(node, file, problems)
    if node is not None and not (isinstance(node, Scalar) and node.is_null):
        problems.add(f"{file}:{node.line}", "", _kind(node), "a mapping of keys to values")
    return Fields(Entries({}, 1), file, problems)


def _has_unprintable(text: str) -> bool:
    # isprintable() is quick, but refuses the ideographic space too.
    return not text.isprintable() and any(unicodedata.category(c) in UNPRINTABLE for c in text)


def check_unique(siblings: Sequence[Fields], name: str, words: Sequence[str]) -> None:
    """Note each word that an earlier sibling's field of this name holds too."""
    seen: set[str] = set()
    for fields, word in zip(siblings, words, strict=True):
        if word and word in seen:
            fields.fault(name, f"{shown(word)} twice", f"each {name} once")
        seen.add(word)


def _kind(node: Node) -> str:
    if isinstance(node, Items):
        return "a list"
    if isinstance(node, Entries):
        return "a mapping"
    return node.text if node.boolean else shown(node.text)
