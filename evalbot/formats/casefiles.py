"""The file that holds a suite's cases, in any of its formats, as records.

In CSV, TSV and XLSX a cell of a list field holds several values separated by `|`
(a literal bar is `\\|`). `checkpoints` cells hold `id: text | id: text`, or the JSON list;
`messages` cells the JSON list; `language` cells a tag, or the JSON object.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from evalbot.formats.cells import read_csv
from evalbot.formats.json_tree import parse_json, parse_jsonl
from evalbot.formats.problems import Problems, shown
from evalbot.formats.records import read_records
from evalbot.formats.sheet import read_sheet
from evalbot.formats.textfile import read_text
from evalbot.formats.tree import Entries, Items, Node, Scalar
from evalbot.formats.yaml_tree import parse_yaml

NAMES = ("cases.jsonl", "cases.csv", "cases.tsv", "cases.xlsx", "cases.yaml")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
LIST_COLUMNS = frozenset({"references", "acceptable", "traps", "critical", "choices", "tags"})
JSON_OPENINGS = {"messages": "[{", "checkpoints": "[", "language": "{"}
BAR = re.compile(r"(?<!\\)\|")


class CaseRecords(NamedTuple):
    """The cases of a file before their fields' types are known; file names it in problems."""

    file: str
    records: list[Entries]


def read_case_records(folder: Path, problems: Problems) -> CaseRecords:
    """The records of the one case file in the folder."""
    found = [name for name in NAMES if (folder / name).exists()]
    if len(found) != 1:
        expected = f"exactly one of {', '.join(NAMES)}"
        problems.add(folder.name, "", " and ".join(found) or "no case file", expected)
        return CaseRecords(folder.name, [])
    path = folder / found[0]
    file = f"{folder.name}/{path.name}"
    return CaseRecords(file, _read(path, file, problems))


def _read(path: Path, file: str, problems: Problems) -> list[Entries]:
    if path.suffix == ".xlsx":
        rows = read_sheet(path, file, problems)
        return _from_table(read_records(rows, file, problems), file, problems) if rows else []
    text = read_text(path, file, problems)
    if text is None:
        return []
    if path.suffix == ".jsonl":
        return parse_jsonl(text, file, problems)
    if path.suffix == ".yaml":
        return _from_list(parse_yaml(text, file, problems), file, problems)
    rows = read_csv(text, file, problems, DELIMITERS[path.suffix])
    return _from_table(read_records(rows, file, problems), file, problems) if rows else []


def _from_list(node: Node | None, file: str, problems: Problems) -> list[Entries]:
    if node is None:
        return []
    if not isinstance(node, Items):
        problems.add(f"{file}:{node.line}", "", "no list", "a list of cases")
        return []
    for value in node.values:
        if not isinstance(value, Entries):
            problems.add(f"{file}:{value.line}", "", "no mapping", "a case with its key")
    return [value for value in node.values if isinstance(value, Entries)]


def _from_table(rows: list[Entries], file: str, problems: Problems) -> list[Entries]:
    return [
        Entries(
            {
                name: _cell(name, cell, file, problems)
                for name, cell in row.values.items()
                if isinstance(cell, Scalar) and cell.text.strip()
            },
            row.line,
        )
        for row in rows
    ]


def _cell(name: str, cell: Scalar, file: str, problems: Problems) -> Node:
    text = cell.text.strip()
    opening = JSON_OPENINGS.get(name)
    if name == "messages" or (opening is not None and text.startswith(opening)):
        # A broken cell is noted; the empty list in its place raises no second problem.
        return parse_json(text, file, cell.line, problems, name) or Items((), cell.line)
    if name == "checkpoints":
        return _checkpoints(cell, file, problems)
    if name in LIST_COLUMNS:
        return Items(tuple(Scalar(part, cell.line, True) for part in split(text)), cell.line)
    return cell


def _checkpoints(cell: Scalar, file: str, problems: Problems) -> Items:
    lines: list[Node] = []
    for part in split(cell.text.strip()):
        name, colon, text = part.partition(":")
        if not colon:
            place = f"{file}:{cell.line}"
            problems.add(place, "checkpoints", shown(part), "id: text, separated by |")
            continue
        values: dict[str, Node] = {
            "id": Scalar(name.strip(), cell.line, True),
            "text": Scalar(text.strip(), cell.line, True),
        }
        lines.append(Entries(values, cell.line))
    return Items(tuple(lines), cell.line)


def split(text: str) -> list[str]:
    """The values of a cell that are separated by bars; `\\|` is a bar in a value."""
    return [part.strip().replace(r"\|", "|") for part in BAR.split(text)]
