"""Taking llama-bench's JSON apart, which log lines may interrupt and a crash may cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from evalbot.formats.json_tree import parse_json
from evalbot.formats.llama_bench_logs import LogLine
from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries

# Only where objects end is asked here, so numbers need not be made.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


class Pieces(NamedTuple):
    """One file taken apart.

    ends: lines that only a run that came to its end writes. cuts: lines from which on JSON
    is cut off.
    """

    records: list[Entries]
    log: list[LogLine]
    ends: list[int]
    cuts: list[int]


def is_json(line: str) -> bool:
    """Whether a JSON array or object begins in this line; `[New LWP 1]` is a debugger's word."""
    text = line.strip()
    return text in ("[", "[]") or re.match(r"\[?\s*\{", text) is not None


def split_json(lines: Sequence[str], file: str, problems: Problems) -> Pieces:
    """Objects, in an array or one a line, whatever stands between them."""
    return _JsonSplitter(lines, file, problems).pieces


class _JsonSplitter:
    """Goes through the lines once; at is the index of the next line."""

    def __init__(self, lines: Sequence[str], file: str, problems: Problems) -> None:
        self.lines = lines
        self.file = file
        self.problems = problems
        self.pieces = Pieces([], [], [], [])
        self.open: int | None = None
        at = 0
        while at < len(lines):
            at = self._line(at)
        self._cut_open()

    def _line(self, at: int) -> int:
        """Read what begins in this line; the index of the line after it comes back."""
        text = self.lines[at].strip()
        if is_json(text):
            if text.startswith("["):
                self._cut_open()
                self.open = at + 1
            return self._objects(at, text.lstrip("[ \t"))
        if re.fullmatch(r",\s*\{.*|\],?", text):
            return self._objects(at, text)
        if text != ",":
            self.pieces.log.append(LogLine(at + 1, self.lines[at]))
        return at + 1

    def _objects(self, at: int, rest: str) -> int:
        """The objects that begin in the rest of this line, and the bracket after them."""
        while rest := rest.lstrip(", \t\r"):
            if rest.startswith("]"):
                self.open = None
                self.pieces.ends.append(at + 1)
                rest = rest[1:]
            elif rest.startswith("{"):
                last = self._last_line(at, rest)
                body = "\n".join([rest, *self.lines[at + 1 : last + 1]])
                end = self._object(at, body)
                if end is None:
                    return last + 1
                at += body.count("\n", 0, end)
                rest = body[end:].partition("\n")[0]
            else:
                self.pieces.log.append(LogLine(at + 1, rest))
                break
        return at + 1

    def _last_line(self, at: int, rest: str) -> int:
        """The index of the line in which an object ends; its own line where none does."""
        if not rest.rstrip().endswith(("{", ",")):
            return at
        for index in range(at + 1, len(self.lines)):
            text = self.lines[index].lstrip()
            if text.startswith("}"):
                return index
            if is_json(text):
                break
        return at

    def _object(self, at: int, body: str) -> int | None:
        """Keep the object that the body begins with; where it ends, or None where it is broken."""
        try:
            end = _DECODER.raw_decode(body)[1]
        except json.JSONDecodeError as error:
            if "}" not in body:
                self.open = at + 1
                self._cut_open()
                return None
            number = at + 1 + body.count("\n", 0, error.pos)
            found = shown(body.split("\n")[number - at - 1].strip())
            self.problems.add(f"{self.file}:{number}", "", found, f"valid JSON ({error.msg})")
            return None
        except RecursionError:
            end = len(body)
        node = parse_json(body[:end], self.file, at + 1, self.problems)
        if isinstance(node, Entries):
            self.pieces.records.append(node)
        return end

    def _cut_open(self) -> None:
        if self.open is not None:
            self.pieces.cuts.append(self.open)
        self.open = None
