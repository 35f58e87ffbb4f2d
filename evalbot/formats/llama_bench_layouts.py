"""Taking llama-bench's output apart: results in five formats, and the log lines between them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from evalbot.formats.llama_bench_json import Pieces, is_json, split_json
from evalbot.formats.llama_bench_logs import LogLine
from evalbot.formats.problems import Problems, shown
from evalbot.formats.tree import Entries, Node, Scalar

INSERT = re.compile(r"INSERT INTO llama_bench\b", re.IGNORECASE)
INSERT_WHOLE = re.compile(
    r"INSERT INTO llama_bench *\(([^()]*)\) *VALUES *\((.*)\) *;", re.IGNORECASE
)
CREATE = re.compile(r"CREATE TABLE (IF NOT EXISTS )?llama_bench\b", re.IGNORECASE)
HEADER = re.compile(r'["\w, ]+')
RULE = re.compile(r"[|:\- ]+")
FOOTER = re.compile(r"build: \S+ \(\d+\)")


def is_csv(line: str) -> bool:
    """Whether the line is the header of the CSV format."""
    names = [name.strip(' "') for name in line.split(",")]
    return {"model_type", "avg_ts"} <= set(names) and HEADER.fullmatch(line) is not None


def is_sql(line: str) -> bool:
    """Whether an SQL statement about llama-bench's table begins in this line."""
    return (INSERT.match(line.strip()) or CREATE.match(line.strip())) is not None


def is_markdown(line: str) -> bool:
    """Whether the line is one of a Markdown table."""
    return line.lstrip().startswith("|")


def split_markdown(lines: Sequence[str], file: str, problems: Problems) -> Pieces:
    """Table lines by the names in the table's header."""
    pieces = Pieces([], [], [], [])
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not is_markdown(line):
            pieces.log.append(LogLine(number, line))
            if FOOTER.match(line):
                pieces.ends.append(number)
            continue
        text = line.strip()
        cells = [cell.strip() for cell in text.removesuffix("|")[1:].split("|")]
        if {"model", "test", "t/s"} <= set(cells):
            header = cells
        elif not RULE.fullmatch(text):
            _add_record(pieces, header, cells, f"{file}:{number}", number, problems)
    return pieces


def split_csv(lines: Sequence[str], file: str, problems: Problems) -> Pieces:
    """Rows by the names in the header; a line with few commas is one of the log."""
    pieces = Pieces([], [], [], [])
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        if is_csv(line):
            header = [name.strip(' "') for name in line.split(",")]
        elif header and (line.startswith('"') or line.count(",") >= len(header) // 2):
            cells = _cells(line, '"')
            _add_record(pieces, header, cells, f"{file}:{number}", number, problems)
        else:
            pieces.log.append(LogLine(number, line))
    return pieces


def split_sql(lines: Sequence[str], file: str, problems: Problems) -> Pieces:
    """INSERT statements, each by the names it gives; the table's definition tells nothing."""
    pieces = Pieces([], [], [], [])
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        whole = INSERT_WHOLE.fullmatch(text)
        place = f"{file}:{number}"
        if whole:
            header, cells = _cells(whole[1], "'"), _cells(whole[2], "'")
            _add_record(pieces, header or [], cells, place, number, problems)
        elif INSERT.match(text):
            expected = "INSERT INTO llama_bench (columns) VALUES (values);"
            problems.add(place, "", shown(text), expected)
        else:
            pieces.log.append(LogLine(number, line))
    return pieces


def _cells(text: str, quote: str) -> list[str] | None:
    """One line's cells; None where its quotes are not closed."""
    try:
        return next(csv.reader([text], quotechar=quote, skipinitialspace=True, strict=True), None)
    except csv.Error:
        return None


def _add_record(
    pieces: Pieces,
    header: Sequence[str],
    cells: Sequence[str] | None,
    place: str,
    number: int,
    problems: Problems,
) -> None:
    if not header:
        problems.add(place, "", "a row without a header", "the line with the columns' names first")
    elif cells is None:
        problems.add(place, "", "quotes that are not closed", "a whole row")
    elif len(cells) != len(header):
        problems.add(place, "", f"{len(cells)} cells", f"{len(header)}, one a column")
    else:
        values: dict[str, Node] = {
            name.strip(): Scalar(cell.strip(), number, quoted=cell.strip() != "")
            for name, cell in zip(header, cells, strict=True)
        }
        pieces.records.append(Entries(values, number))


Split = Callable[[Sequence[str], str, Problems], Pieces]
LAYOUTS: dict[str, tuple[Callable[[str], bool], Split]] = {
    "json": (is_json, split_json),
    "csv": (is_csv, split_csv),
    "sql": (is_sql, split_sql),
    "md": (is_markdown, split_markdown),
}
