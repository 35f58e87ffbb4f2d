"""llama-bench's results in its five formats, failed models among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.fields import COUNT_OR_ZERO, NOT_NEGATIVE, Fields
from evalbot.formats.llama_bench_json import Pieces
from evalbot.formats.llama_bench_layouts import LAYOUTS
from evalbot.formats.llama_bench_logs import Failure, LogLine, each_once, failures_in, is_its_log
from evalbot.formats.problems import Problems, shown
from evalbot.formats.speed_outcomes import figure
from evalbot.formats.textfile import text_of
from evalbot.formats.tree import Entries, Items, Scalar

# Builds of 2023 wrote a space: "pp 512".
TEST = re.compile(
    r"(pp ?(?P<prompt>[0-9]{1,9}))?\+?(tg ?(?P<output>[0-9]{1,9}))?( @ d(?P<depth>[0-9]{1,9}))?"
)
EXPECTED = {
    ".json": "an array of results, as `-o json` writes it",
    ".jsonl": "a result a line, as `-o jsonl` writes it",
    ".csv": "a header with model_type and avg_ts, as `-o csv` writes it",
    ".sql": "INSERT INTO llama_bench statements, as `-o sql` writes them",
    ".md": "a table with the columns model, test and t/s, as `-o md` writes it",
}
MARKDOWN = "md"


class BenchTest(NamedTuple):
    """What a test processes: tokens of prompt, of output, and in the context beforehand."""

    prompt: int
    output: int
    depth: int

    @property
    def name(self) -> str:
        """As the Markdown format names it: pp512, tg128, pp512+tg128, tg128 @ d4096."""
        parts = [f"pp{self.prompt}"] if self.prompt or not self.output else []
        parts += [f"tg{self.output}"] if self.output else []
        return "+".join(parts) + (f" @ d{self.depth}" if self.depth else "")


class Rate(NamedTuple):
    """Tokens per second, and its standard deviation as written."""

    tps: float
    written: str
    stddev: str | None


def read_llama_bench(path: Path, problems: Problems) -> list[SpeedRow]:
    """The results of a file that llama-bench's output was sent to, log lines included.

    A failed model is a row without figures. Only rows that are well are given; what is
    wrong with the others, or with the file, is noted in problems.
    """
    file = str(path)
    text = text_of(path, file, problems)
    if text is None:
        return []
    before = len(problems)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    name = _layout(lines, file, problems)
    pieces = LAYOUTS[name][1](lines, file, problems) if name else _log_only(lines)
    at_work = {entries.line for entries in pieces.records} | set(pieces.ends)
    failures = failures_in(pieces.log, at_work) if name or is_its_log(pieces.log) else []
    _check_cuts(pieces, failures, file, problems)
    read = _markdown_row if name == MARKDOWN else _row
    numbered = [(failure.line, _failed(failure)) for failure in each_once(failures)]
    for entries in pieces.records:
        row = read(Fields(entries, file, problems))
        if row:
            numbered.append((entries.line, row))
    if not numbered and len(problems) == before:
        expected = EXPECTED.get(path.suffix.lower(), "what llama-bench writes")
        problems.add(file, "", "no result of llama-bench", expected)
    return [row for _, row in sorted(numbered, key=lambda pair: pair[0])]


def _layout(lines: Sequence[str], file: str, problems: Problems) -> str | None:
    """The format that the lines are in; None where no line is one of a result."""
    first = {
        name: next((number for number, line in enumerate(lines, start=1) if is_its(line)), None)
        for name, (is_its, _) in LAYOUTS.items()
    }
    there = {name: number for name, number in first.items() if number is not None}
    if len(there) > 1:
        number = sorted(there.values())[1]
        found = " and ".join(f"{name} from line {at}" for name, at in there.items())
        problems.add(f"{file}:{number}", "", found, "one format a file, each result once")
    return min(there, key=lambda name: there[name]) if there else None


def _log_only(lines: Sequence[str]) -> Pieces:
    return Pieces([], [LogLine(at, line) for at, line in enumerate(lines, start=1)], [], [])


def _check_cuts(pieces: Pieces, failures: Sequence[Failure], file: str, problems: Problems) -> None:
    """Each run ends with its crash, so a failure explains one cut."""
    if len(pieces.cuts) > len(failures):
        expected = "its end, or the words of the failure that ended it"
        problems.add(f"{file}:{pieces.cuts[-1]}", "", "JSON that is cut off", expected)


def _failed(failure: Failure) -> SpeedRow:
    return SpeedRow(
        model=failure.model,
        source=SpeedSource.LLAMA_BENCH,
        status=failure.status,
        evidence=failure.evidence,
    )


def _row(fields: Fields) -> SpeedRow | None:
    """A result of the formats that name their fields alike: json, jsonl, csv and sql."""
    before = len(fields.problems)
    model = fields.model_name("model_type")
    for name in ("n_prompt", "n_gen", "avg_ts"):
        fields.require(name, "a number")
    test = BenchTest(
        fields.integer("n_prompt", COUNT_OR_ZERO, 0),
        fields.integer("n_gen", COUNT_OR_ZERO, 0),
        fields.integer("n_depth", COUNT_OR_ZERO, 0),  # builds without it always start empty
    )
    tps = figure(fields, "avg_ts") or 0.0
    fields.number("stddev_ts", NOT_NEGATIVE)
    rate = Rate(tps, _written(fields, "avg_ts") or "", _written(fields, "stddev_ts"))
    backend = fields.optional_text("backends")
    hardware = [fields.optional_text(name) for name in ("gpu_info", "cpu_info")]
    if len(fields.problems) > before:
        return None
    named = [name.strip() for name in hardware if name]
    samples = _samples(fields.entries)
    return _made(model, backend, named[0] if named else None, test, rate, samples)


def _markdown_row(fields: Fields) -> SpeedRow | None:
    before = len(fields.problems)
    model = fields.model_name("model")
    backend = fields.optional_text("backend")
    test = _named_test(fields)
    written = fields.text("t/s")
    parts = [part.strip() for part in written.split("±")]
    values: list[Scalar] = [Scalar(part, fields.entries.line, quoted=True) for part in parts]
    cells = Fields(
        Entries(dict(zip(("t/s", "stddev"), values, strict=False)), fields.entries.line),
        fields.file,
        fields.problems,
    )
    tps = figure(cells, "t/s") or 0.0
    cells.number("stddev", NOT_NEGATIVE)
    if len(parts) > 2:
        fields.fault("t/s", shown(written), "one number, or two with ± between them")
    if len(fields.problems) > before:
        return None
    rate = Rate(tps, parts[0], parts[1] if len(parts) > 1 else None)
    return _made(model, backend, None, test, rate, None)


def _named_test(fields: Fields) -> BenchTest:
    name = fields.text("test")
    match = TEST.fullmatch(name)
    if match and (match["prompt"] or match["output"]):
        return BenchTest(*(int(match[part] or 0) for part in ("prompt", "output", "depth")))
    fields.fault("test", shown(name), "a test such as pp512, tg128, pp512+tg128 or tg128 @ d4096")
    return BenchTest(0, 0, 0)


def _made(
    model: str,
    backend: str | None,
    hardware: str | None,
    test: BenchTest,
    rate: Rate,
    samples: int | None,
) -> SpeedRow:
    status, evidence = _judged(test, rate)
    ok = status is SpeedStatus.OK
    return SpeedRow(
        model=model,
        hardware=hardware,
        backend=backend,
        source=SpeedSource.LLAMA_BENCH,
        test=test.name,
        context_label=str(test.prompt + test.depth),
        context_tokens=test.prompt + test.depth,
        output_tokens=test.output,
        concurrency=1,
        n=samples,
        errors=0,
        prefill_tps_p50=rate.tps if ok and not test.output else None,
        decode_tps_p50=rate.tps if ok and not test.prompt else None,
        status=status,
        evidence=evidence,
        timing_source="server",  # llama-bench takes its times inside the process
    )


def _judged(test: BenchTest, rate: Rate) -> tuple[SpeedStatus, str | None]:
    """Whether the rate is a figure, and what must be said of it."""
    if rate.tps == 0:
        return SpeedStatus.FAILED, f"{rate.written} tok/s written"
    spread = [f"stddev {rate.stddev} tok/s"] if rate.stddev else []
    if test.prompt and test.output:
        mixed = f"{rate.written} tok/s over prompt and generated tokens together"
        return SpeedStatus.OK, ", ".join([mixed, *spread])
    return SpeedStatus.OK, spread[0] if spread else None


def _written(fields: Fields, name: str) -> str | None:
    node = fields.entries.values.get(name)
    return node.text.strip() if isinstance(node, Scalar) and not node.is_null else None


def _samples(entries: Entries) -> int | None:
    node = entries.values.get("samples_ts") or entries.values.get("samples_ns")
    return len(node.values) if isinstance(node, Items) and node.values else None
