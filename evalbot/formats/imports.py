"""Files of answers and grades that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.rubrics import Layer
from evalbot.formats.cells import read_csv
from evalbot.formats.fields import ABOVE_ZERO, COUNT, Fields
from evalbot.formats.json_tree import parse_jsonl
from evalbot.formats.problems import Problems, shown
from evalbot.formats.records import read_records
from evalbot.formats.textfile import text_of

LAYERS = tuple(Layer)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer as imported. place: file and row; times in ms, speed in tokens per second."""

    place: str
    suite: str
    case: str
    model: str
    answer: str
    repeat: int = 1
    finish_reason: str | None = None
    reasoning: str | None = None
    ttft_ms: float | None = None
    decode_tps: float | None = None


@dataclass(frozen=True, slots=True)
class GradeRow:
    """A grade as imported. place: file and row; at: when it was given, None where unknown."""

    place: str
    suite: str
    case: str
    model: str
    layer: Layer
    grader: str
    verdict: str
    repeat: int = 1
    answer: str | None = None
    rationale: str | None = None
    at: datetime | None = None


def read_answer_rows(path: Path, problems: Problems) -> list[AnswerRow]:
    """The answers of a .jsonl or .csv file, each case, model and repeat once.

    Only rows that are well are given; what is wrong with the others, or with the file, is
    noted in problems.
    """
    rows = []
    places: dict[tuple[str, str, str, int], str] = {}
    for fields, place in _records(path, problems):
        before = len(problems)
        row = AnswerRow(
            place=place,
            suite=fields.name("suite"),
            case=fields.name("case"),
            model=fields.model_name("model"),
            answer=fields.text_or_blank("answer"),
            repeat=fields.integer("repeat", COUNT, 1),
            finish_reason=fields.optional_text("finish_reason"),
            reasoning=fields.optional_text("reasoning"),
            ttft_ms=fields.number("ttft_ms", ABOVE_ZERO),
            decode_tps=fields.number("decode_tps", ABOVE_ZERO),
        )
        fields.finish()
        first = places.setdefault((row.suite, row.case, row.model, row.repeat), place)
        if first != place and row.case:
            found = f"{shown(row.case)}, which {first} answers for this model and repeat"
            fields.fault("case", found, "one answer a case, model and repeat")
        if len(problems) == before:
            rows.append(row)
    return rows


def read_grade_rows(path: Path, problems: Problems) -> list[GradeRow]:
    """The grades of a .jsonl or .csv file, as read_answer_rows gives answers."""
    rows = []
    for fields, place in _records(path, problems):
        before = len(problems)
        row = GradeRow(
            place=place,
            suite=fields.name("suite"),
            case=fields.name("case"),
            model=fields.model_name("model"),
            layer=Layer(fields.choice("layer", LAYERS)),
            grader=fields.name("grader"),
            verdict=fields.name("verdict"),
            repeat=fields.integer("repeat", COUNT, 1),
            answer=fields.optional_text("answer"),
            rationale=fields.optional_text("rationale"),
            at=_moment(fields, "at"),
        )
        fields.finish()
        if len(problems) == before:
            rows.append(row)
    return rows


def _records(path: Path, problems: Problems) -> Iterator[tuple[Fields, str]]:
    file = str(path)
    kind = path.suffix.lower()
    if kind not in (".jsonl", ".csv"):
        problems.add(file, "", path.suffix or "no ending", ".jsonl or .csv")
        return
    text = text_of(path, file, problems)
    if text is None:
        return
    if kind == ".jsonl":
        records = parse_jsonl(text, file, problems)
    else:
        records = read_records(read_csv(text, file, problems), file, problems)
    if not records:
        problems.add(file, "", "no rows", "at least one row")
    for record in records:
        yield Fields(record, file, problems), f"{file}:{record.line}"


def _moment(fields: Fields, name: str) -> datetime | None:
    """A moment in ISO 8601; without an offset it is UTC."""
    text = fields.optional_text(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        fields.fault(name, shown(text), "a date and time such as 2025-01-31T18:00:00Z")
        return None
