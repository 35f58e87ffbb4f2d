"""A suite's folder: suite.yaml and its cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from evalbot.domain.cases import Case, Language, Suite, Task
from evalbot.errors import NotFoundError
from evalbot.formats.casefiles import read_case_records
from evalbot.formats.cases import read_case, read_language
from evalbot.formats.fields import Fields, root_fields
from evalbot.formats.problems import Problems, shown
from evalbot.formats.textfile import read_text
from evalbot.formats.yaml_text import write_yaml
from evalbot.formats.yaml_tree import parse_yaml

HEAD = "suite.yaml"
CASES = "cases.jsonl"
HOME = "datasets"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
NAME_WORDS = "a name of the letters A-Z a-z, digits, . _ and -"


def read_suite(folder: Path) -> Suite:
    """Read a suite. Raises NotFoundError, and ProblemsError with everything that is wrong."""
    path = folder / HEAD
    if not path.exists():
        raise NotFoundError(f"{folder} holds no suite: there is no {HEAD} in it")
    folder = folder.absolute()
    problems = Problems()
    file = f"{folder.name}/{HEAD}"
    text = read_text(path, file, problems)
    node = None if text is None else parse_yaml(text, file, problems)
    problems.raise_if_any()
    suite = read_head(root_fields(node, file, problems), _cases(folder, problems))
    if folder.parent.name == HOME and suite.name != folder.name:
        expected = f"{folder.name}, as its folder is called"
        problems.add(file, "name", shown(suite.name), expected)
    problems.raise_if_any()
    return suite


def write_suite(suite: Suite, folder: Path) -> list[Path]:
    """Write suite.yaml and cases.jsonl, which read_suite reads back as the same suite."""
    folder.mkdir(parents=True, exist_ok=True)
    head, cases = folder / HEAD, folder / CASES
    head.write_text(write_yaml(head_values(suite)), encoding="utf-8", newline="\n")
    lines = [json.dumps(case_values(case), ensure_ascii=False) for case in suite.cases]
    cases.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return [head, cases]


def case_values(case: Case) -> dict[str, Any]:
    """A case as its JSON object, without the fields that say nothing."""
    language = case.language
    values: dict[str, Any] = {
        "key": case.key,
        "prompt": case.prompt,
        "messages": [{"role": turn.role, "content": turn.content} for turn in case.messages],
        "references": case.references,
        "acceptable": case.acceptable,
        "traps": case.traps,
        "critical": case.critical,
        "checkpoints": [
            {"id": line.id, "text": line.text, "weight": line.weight} for line in case.checkpoints
        ],
        "choices": case.choices,
        "scorer": case.scorer,
        "cluster": case.cluster,
        "notes": case.notes,
        "source": case.source,
        "tags": case.tags,
    }
    said = {name: value for name, value in values.items() if value}
    return said if language is None else {**said, "language": _language_values(language)}


def read_head(fields: Fields, cases: tuple[Case, ...] = ()) -> Suite:
    """The suite of suite.yaml's fields; what is wrong is noted."""
    suite = Suite(
        name=fields.text("name", NAME_WORDS),
        title=fields.text("title"),
        task=Task(fields.choice("task", list(Task))),
        rubric=fields.text("rubric", "a rubric's name"),
        cases=cases,
        language=read_language(fields) or Language(),
        system=fields.optional_text("system"),
        template=fields.optional_text("template"),
        licence=fields.optional_text("licence"),
        description=fields.optional_text("description"),
    )
    fields.finish()
    if suite.name and not NAME.fullmatch(suite.name):
        fields.fault("name", shown(suite.name), NAME_WORDS)
    if suite.template is not None and "{prompt}" not in suite.template:
        fields.fault("template", shown(suite.template), "a text with {prompt} in it")
    return suite


def _cases(folder: Path, problems: Problems) -> tuple[Case, ...]:
    file, records = read_case_records(folder, problems)
    cases: list[Case] = []
    lines: dict[str, int] = {}
    for record in records:
        fields = Fields(record, file, problems)
        case = read_case(fields)
        if case.key in lines:
            found = f"{shown(case.key)}, which line {lines[case.key]} has"
            fields.fault("key", found, "each key once")
        elif case.key:
            lines[case.key] = record.line
        cases.append(case)
    if not records:
        problems.add(file, "", "no cases", "at least one case")
    return tuple(cases)


def head_values(suite: Suite) -> dict[str, Any]:
    """The fields of suite.yaml, without those that say nothing."""
    values: dict[str, Any] = {
        "name": suite.name,
        "title": suite.title,
        "task": str(suite.task),
        "rubric": suite.rubric,
        "language": _language_values(suite.language),
        "system": suite.system,
        "template": suite.template,
        "licence": suite.licence,
        "description": suite.description,
    }
    return {name: value for name, value in values.items() if value}


def _language_values(language: Language) -> dict[str, str]:
    both = {"source": language.source, "target": language.target}
    return {name: value for name, value in both.items() if value}
