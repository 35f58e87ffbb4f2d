"""YAML to a tree of texts."""

from __future__ import annotations

import yaml

from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries, Items, Node, Scalar

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _TooLargeError(Exception):
    """Aliases multiply the file beyond reason."""


def parse_yaml(text: str, file: str, problems: Problems) -> Node | None:
    """The one document of a YAML text; None where it is empty or, with a problem noted, broken."""
    try:
        root = _compose(text)
        return None if root is None else _Builder(text, file, problems).build(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}" if mark else file
        words = (error.problem or error.context or "").removeprefix("found ")
        if mark is not None and _line(text, mark.line).lstrip(" ").startswith("\t"):
            problems.add(place, "", "a tab", "spaces for indentation")
        else:
            problems.add(place, "", "", f"valid YAML ({words})")
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        problems.add(file, "", _first_line(error), "valid YAML")
    except RecursionError:
        problems.add(file, "", "lists or mappings nested too deep", "a few levels")
    except _TooLargeError:
        problems.add(file, "", "aliases that multiply the file", "few aliases, or none")
    return None


def _compose(text: str) -> yaml.Node | None:
    loader = Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number] if number < len(lines) else ""


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


class _Builder:
    """Turns PyYAML's nodes into ours, and stops where aliases would unfold without end."""

    def __init__(self, text: str, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.left = 1000 + 10 * len(text)

    def build(self, node: yaml.Node) -> Node:
        self.left -= 1
        if self.left < 0:
            raise _TooLargeError
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, line)
        if isinstance(node, yaml.SequenceNode):
            return Items(tuple(self.build(value) for value in node.value), line)
        return Scalar(str(node.value), line, quoted=bool(getattr(node, "style", None)))

    def _entries(self, node: yaml.MappingNode, line: int) -> Entries:
        values: dict[str, Node] = {}
        for key, value in node.value:
            place = f"{self.file}:{key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                self.problems.add(place, "", "a list or mapping as a key", "a word as the key")
            elif key.value in values:
                self.problems.add(place, "", f"key {shown(key.value)} twice", "each key once")
            else:
                values[key.value] = self.build(value)
        return Entries(values, line)
