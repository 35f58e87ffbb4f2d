"""Results of vLLM's serving benchmark, recomputed from the times of each request."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.fields import COUNT, COUNT_OR_ZERO, NOT_NEGATIVE, Bounds, Fields
from evalbot.formats.json_tree import parse_json, parse_jsonl
from evalbot.formats.problems import Problems, shown
from evalbot.formats.speed_outcomes import FIGURE, figure, is_figure
from evalbot.formats.speed_words import last_part, one_line, status_of
from evalbot.formats.textfile import text_of
from evalbot.formats.tree import Entries
from evalbot.formats.vllm_requests import Request, read_requests
from evalbot.stats.quantiles import percentile, percentile_of_known
from evalbot.stats.rounding import half_up

AGREEMENT = 0.005
"""How far, as a share, a file's own summary may lie from its raw values without a word."""

DURATION = Bounds("a number of seconds from 0.000001 to 1,000,000,000", at_least=1e-6, at_most=1e9)
HALF_A_MICROSECOND = 0.0005
"""In milliseconds: raw values are often kept rounded to microseconds."""

NO_RAW_VALUES = "as the file's own summary says: it has no raw values"
NO_OUTPUT = "no request gave any output"


class Figures(NamedTuple):
    """What is made of the requests that did not fail; times in milliseconds."""

    n: int
    ttft_p50: float | None = None
    ttft_p90: float | None = None
    ttft_mean: float | None = None
    tpot_p50: float | None = None
    aggregate_tps: float | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None


def read_vllm_bench(path: Path, problems: Problems) -> list[SpeedRow]:
    """A row for each result in the file: one JSON object, or one a line.

    Only rows that are well are given; what is wrong with the others, or with the file, is
    noted in problems.
    """
    file = str(path)
    text = text_of(path, file, problems)
    if text is None:
        return []
    rows = []
    for entries in _results(text, file, problems):
        before = len(problems)
        row = _row(Fields(entries, file, problems))
        if len(problems) == before:
            rows.append(row)
    return rows


def _results(text: str, file: str, problems: Problems) -> list[Entries]:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        problems.add(file, "", "an empty file", "a JSON object, as vLLM's benchmark saves it")
        return []
    if len(lines) > 1 and lines[0].rstrip().endswith("}"):  # --append-result: one a line
        return parse_jsonl(text, file, problems)
    node = parse_json(text, file, 1, problems)
    if isinstance(node, Entries):
        return [node]
    if node is not None:
        problems.add(f"{file}:1", "", shown(text.strip()), "a JSON object")
    return []


def _row(fields: Fields) -> SpeedRow:
    model = fields.model_name("model_id")
    name = last_part(model)
    if model and not name.strip():
        fields.fault("model_id", shown(model), "a name")
    rate = fields.optional_text("request_rate")
    concurrency = fields.integer("max_concurrency", COUNT)
    backend = fields.optional_text("backend")
    duration = fields.number("duration", DURATION)
    fields.require("duration", "seconds")
    raw = fields.has("ttfts")
    requests = read_requests(fields) if raw else []
    measured = [request for request in requests if not request.failed]
    figures = _measured(measured, duration or math.inf) if raw else _summary(fields)
    status, evidence = SpeedStatus.OK, None if raw else NO_RAW_VALUES
    if raw and measured:
        _check(fields, figures)
        evidence = _disagreements(fields, figures)
        figures = _unrounded(fields, figures)
    elif not figures.n:
        status, evidence = _all_failed(requests)
    return SpeedRow(
        model=name,
        backend=backend,
        source=SpeedSource.VLLM_BENCH,
        test=f"serve {rate} req/s" if rate else "serve",
        context_tokens=figures.context_tokens,
        output_tokens=figures.output_tokens,
        concurrency=concurrency,
        n=figures.n,
        errors=len(requests) - len(measured) if raw else _failed_count(fields, figures.n),
        ttft_ms_p50=figures.ttft_p50,
        ttft_ms_p90=figures.ttft_p90,
        ttft_ms_mean=figures.ttft_mean,
        decode_tps_p50=_rate(figures.tpot_p50),
        aggregate_tps=figures.aggregate_tps,
        wall_s=duration if status is SpeedStatus.OK else None,
        status=status,
        evidence=evidence,
        timing_source="client",
    )


def _measured(requests: Sequence[Request], duration: float) -> Figures:
    if not requests:
        return Figures(0)
    ttfts = [1000 * request.ttft for request in requests]
    return Figures(
        n=len(requests),
        ttft_p50=percentile(ttfts, 50),
        ttft_p90=percentile(ttfts, 90),
        ttft_mean=math.fsum(ttfts) / len(ttfts),
        tpot_p50=percentile_of_known((request.tpot_ms for request in requests), 50),
        aggregate_tps=math.fsum(request.output_length for request in requests) / duration,
        context_tokens=int(percentile([request.input_length for request in requests], 50)),
        output_tokens=int(percentile([request.output_length for request in requests], 50)),
    )


def _summary(fields: Fields) -> Figures:
    """The figures as the file gives them; it has no medians of the lengths."""
    fields.require("completed", "how many requests were measured")
    n = fields.integer("completed", COUNT_OR_ZERO, 0)
    names = ("median_ttft_ms", "p90_ttft_ms", "mean_ttft_ms", "median_tpot_ms")
    ttft_p50, ttft_p90, ttft_mean, tpot_p50 = (figure(fields, name) for name in names)
    aggregate = figure(fields, "output_throughput")
    if n == 0:
        return Figures(0)
    return Figures(n, ttft_p50, ttft_p90, ttft_mean, tpot_p50, aggregate)


def _failed_count(fields: Fields, completed: int) -> int | None:
    """Requests that failed; None where the file does not say how many were sent."""
    sent = fields.integer("num_prompts", COUNT_OR_ZERO)
    failed = fields.integer("failed", COUNT_OR_ZERO)
    if failed is None and sent is not None and sent >= completed:
        return sent - completed
    return failed


def _all_failed(requests: Sequence[Request]) -> tuple[SpeedStatus, str]:
    words = Counter(filter(None, (_words(request.error) for request in requests)))
    if not words:
        return SpeedStatus.FAILED, NO_OUTPUT
    most = words.most_common(1)[0][0]
    return status_of(most), most


def _words(error: str) -> str:
    """An error on one line; of a Python traceback that is its last."""
    lines = [line for line in error.splitlines() if line.strip()]
    return one_line(lines[-1] if error.startswith("Traceback") else error)


def _rate(ms: float | None) -> float | None:
    """Tokens per second at so many milliseconds each; None where that is unknown or nothing."""
    rate = 1000 / ms if ms else math.inf
    return rate if is_figure(rate) else None


def _check(fields: Fields, figures: Figures) -> None:
    """Note raw values of which no figure can be made."""
    made = {
        "ttfts": (figures.ttft_p50, figures.ttft_p90, figures.ttft_mean),
        "output_lens": (figures.aggregate_tps,),
    }
    for name, values in made.items():
        wrong = next((one for one in values if one is not None and not is_figure(one)), None)
        if wrong is not None:
            fields.fault(name, f"a list that gives {wrong}", FIGURE.words)


def _disagreements(fields: Fields, figures: Figures) -> str | None:
    """Where the file's own summary differs from its raw values, in words."""
    pairs = [
        ("median TTFT", " ms", "median_ttft_ms", figures.ttft_p50),
        ("P90 TTFT", " ms", "p90_ttft_ms", figures.ttft_p90),
        ("mean TTFT", " ms", "mean_ttft_ms", figures.ttft_mean),
        ("median TPOT", " ms", "median_tpot_ms", figures.tpot_p50),
        ("output throughput", " tok/s", "output_throughput", figures.aggregate_tps),
        ("count of completed requests", "", "completed", figures.n),
    ]
    told = []
    for name, unit, key, ours in pairs:
        theirs = figure(fields, key)
        if theirs is not None and ours is not None and abs(theirs - ours) > AGREEMENT * ours:
            written, recomputed = _apart(theirs, ours, 1 if unit else 0)
            told.append(
                f"the file's own {name} is {written}{unit}, its raw values give {recomputed}{unit}"
            )
    return "; ".join(told) or None


def _unrounded(fields: Fields, figures: Figures) -> Figures:
    """The figures, the file's own taken where they differ by less than raw values are rounded.

    The summary is made before the raw values are rounded, so it is then the more exact one.
    """

    def exact(key: str, ours: float | None) -> float | None:
        theirs = fields.number(key, NOT_NEGATIVE)
        alike = theirs and ours and abs(theirs - ours) <= HALF_A_MICROSECOND
        return theirs if alike else ours

    return figures._replace(
        ttft_p50=exact("median_ttft_ms", figures.ttft_p50),
        ttft_p90=exact("p90_ttft_ms", figures.ttft_p90),
        ttft_mean=exact("mean_ttft_ms", figures.ttft_mean),
        tpot_p50=exact("median_tpot_ms", figures.tpot_p50),
    )


def _apart(one: float, other: float, digits: int) -> tuple[str, str]:
    """Both numbers with as many decimals as tell them apart, at least these."""
    texts = half_up(one, digits), half_up(other, digits)
    return texts if texts[0] != texts[1] else _apart(one, other, digits + 1)
