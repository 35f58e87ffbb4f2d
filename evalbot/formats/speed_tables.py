"""Speed tables that people typed in, and evalbot's own `speeds` in CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from evalbot.domain.speed import SpeedRow, SpeedSource
from evalbot.formats.cells import read_csv
from evalbot.formats.fields import COUNT, COUNT_OR_ZERO, INTEGER, Fields
from evalbot.formats.problems import Problems, shown
from evalbot.formats.records import read_records
from evalbot.formats.speed_outcomes import NONE_MEASURED, Measured, measured, outcome_of
from evalbot.formats.speed_rows import FIGURES, read_speeds_row
from evalbot.formats.textfile import text_of

NODE = re.compile(r"(?P<hardware>.*\S)\s*\((?P<backend>[^()]+)\)")
KIND = re.compile(r"(pp|tg)(?= ?[0-9])")
FIGURE_OF = {"pp": "prefill_tps_p50", "tg": "decode_tps_p50"}
COMBINED = re.compile(r"pp ?[0-9]+ ?\+ ?tg ?[0-9]+.*")
SINGLE_STREAM = {
    "prefill_tok_s": "prefill_tps_p50",
    "ttft_ms": "ttft_ms_p50",
    "decode_tok_s": "decode_tps_p50",
}
CONCURRENT = {
    "total_decode_tok_s": "aggregate_tps",
    "stream_decode_tok_s": "stream_tps_p50",
    "mean_ttft_ms": "ttft_ms_mean",
    "wall_s": "wall_s",
}
EXPECTED = (
    "the columns of `speeds` (model and at least one figure), or node, test, model, tok_s,"
    " or round, model, context, prefill_tok_s, ttft_ms, decode_tok_s,"
    " or round, model, context, concurrency, total_decode_tok_s"
)

Reader = Callable[[Fields], list[SpeedRow]]


def read_speed_table(path: Path, problems: Problems) -> list[SpeedRow]:
    """The rows of a CSV file, whose header tells which of four layouts it has.

    `~` before a number means about. Only rows that are well are given; what is wrong with
    the others, or with the file, is noted in problems.
    """
    file = str(path)
    text = text_of(path, file, problems)
    if text is None:
        return []
    lines = read_csv(text, file, problems)
    records = read_records(lines, file, problems)
    if not lines:
        return []
    reader = _reader({name.strip() for name in lines[0].cells})
    if reader is None:
        found = shown(", ".join(lines[0].cells))
        problems.add(f"{file}:{lines[0].number}", "", found, EXPECTED)
        return []
    if not records:
        problems.add(file, "", "no rows", "at least one row")
    rows: list[SpeedRow] = []
    for record in records:
        before = len(problems)
        fields = Fields(record, file, problems)
        made = reader(fields)
        fields.finish()
        if len(problems) == before:
            rows += made
    return rows


def _reader(header: set[str]) -> Reader | None:
    if "tok_s" in header:
        return _node_rows
    if "total_decode_tok_s" in header:
        return _concurrent_rows
    if {"prefill_tok_s", "decode_tok_s"} & header:
        return _single_stream_rows
    if "model" in header and not header.isdisjoint(FIGURES):
        return read_speeds_row
    return None


def _node_rows(fields: Fields) -> list[SpeedRow]:
    """One machine's result in one test: `RTX 5090 (CUDA)`, `pp2048`."""
    written = fields.name("node")
    node = NODE.fullmatch(written)
    test = fields.name("test")
    model = fields.model_name("model")
    kind = KIND.match(test)
    values = measured(fields, {"tok_s": FIGURE_OF[kind[0]] if kind else "aggregate_tps"})
    outcome = outcome_of(fields, values, ())
    if COMBINED.fullmatch(test) and outcome.figures:
        mixed = f"{values.written} over prompt and generated tokens together"
        outcome = outcome._replace(figures={}, evidence=mixed)
    return [
        SpeedRow(
            model=model,
            hardware=node["hardware"] if node else written,
            memory=fields.optional_text("memory"),
            backend=node["backend"].strip() if node else None,
            source=SpeedSource.TABLE,
            test=test,
            status=outcome.status,
            evidence=outcome.evidence,
            **outcome.figures,
        )
    ]


def _single_stream_rows(fields: Fields) -> list[SpeedRow]:
    """One stream at a context: what the prompt's length was, and how fast it went."""
    tokens = measured(fields, {"prompt_tokens": "context_tokens"}, COUNT_OR_ZERO)
    return _context_rows(fields, SINGLE_STREAM, tokens, [1])


def _concurrent_rows(fields: Fields) -> list[SpeedRow]:
    """Several streams at a context."""
    return _context_rows(fields, CONCURRENT, NONE_MEASURED, _concurrencies(fields))


def _context_rows(
    fields: Fields, columns: dict[str, str], tokens: Measured, concurrencies: Sequence[int]
) -> list[SpeedRow]:
    """A row for each context and concurrency that the line names."""
    label = fields.optional_text("round")
    model = fields.model_name("model")
    contexts = _alternatives(fields, "context")
    together = [
        fields.text(name)
        for name, words in (("context", contexts), ("concurrency", concurrencies))
        if len(words) > 1
    ]
    outcome = outcome_of(fields, measured(fields, columns), together, tokens)
    known = tokens.values.get("context_tokens")
    return [
        SpeedRow(
            label=label,
            model=model,
            source=SpeedSource.TABLE,
            test=f"{context} x{concurrency}",
            context_label=context,
            context_tokens=int(known) if known is not None and not together else None,
            concurrency=concurrency,
            status=outcome.status,
            evidence=outcome.evidence,
            **outcome.figures,
        )
        for context in contexts
        for concurrency in concurrencies
    ]


def _alternatives(fields: Fields, name: str) -> list[str]:
    """The words of a cell such as 32K/52K/~100K."""
    text = fields.name(name)
    if not text:
        return []
    words = [word.strip() for word in text.split("/")]
    if not all(words):
        fields.fault(name, shown(text), "a name, or several with / between them")
    return words


def _concurrencies(fields: Fields) -> list[int]:
    words = _alternatives(fields, "concurrency")
    numbers = [int(word) for word in words if INTEGER.fullmatch(word) and int(word) >= 1]
    if len(numbers) < len(words):
        found = shown("/".join(words))
        fields.fault("concurrency", found, f"{COUNT.words}, or several as in 1/2/4")
    return numbers
