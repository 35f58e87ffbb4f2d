"""The requests of vLLM's serving benchmark, from the lists that --save-detailed keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from evalbot.formats.fields import COUNT_OR_ZERO, Bounds, Fields
from evalbot.formats.tree import Entries, Items, Node

SECONDS = Bounds("a number of seconds from 0 to 1,000,000,000", at_least=0, at_most=1e9)


class Request(NamedTuple):
    """One request: lengths in tokens, times in seconds; error is "" where there was none."""

    input_length: float
    output_length: float
    ttft: float
    gaps: Sequence[float]
    error: str

    @property
    def failed(self) -> bool:
        """Whether it cannot be measured."""
        return bool(self.error) or self.output_length == 0

    @property
    def tpot_ms(self) -> float | None:
        """Milliseconds an output token after the first; None where no gap was measured."""
        if self.output_length <= 1 or not self.gaps:
            return None
        return 1000 * math.fsum(self.gaps) / (self.output_length - 1)


class _Columns(NamedTuple):
    """The file's lists, one value a request in each."""

    inputs: list[float]
    outputs: list[float]
    ttfts: list[float]
    gaps: list[list[float]]
    errors: list[str] | None


def read_requests(fields: Fields) -> list[Request]:
    """The requests of the raw arrays; none, with problems noted, where these are not well."""
    before = len(fields.problems)
    columns = _Columns(
        inputs=_numbers(fields, "input_lens", COUNT_OR_ZERO),
        outputs=_numbers(fields, "output_lens", COUNT_OR_ZERO),
        ttfts=_numbers(fields, "ttfts", SECONDS),
        gaps=[
            _array(fields, node, f"itls[{at}]", SECONDS)
            for at, node in enumerate(_nodes(fields, "itls"))
        ],
        errors=_errors(fields),
    )
    if len(fields.problems) == before:
        _check_lengths(fields, columns)
    if len(fields.problems) > before:
        return []
    errors = columns.errors or [""] * len(columns.ttfts)
    return list(map(Request, *columns[:4], errors))


def _check_lengths(fields: Fields, columns: _Columns) -> None:
    requests = len(columns.ttfts)
    lengths = {
        "input_lens": len(columns.inputs),
        "output_lens": len(columns.outputs),
        "itls": len(columns.gaps),
        "errors": requests if columns.errors is None else len(columns.errors),
    }
    for name, length in lengths.items():
        if length != requests:
            found = f"{length} values beside {requests} in ttfts"
            fields.fault(name, found, "a value for each request")


def _nodes(fields: Fields, name: str) -> Sequence[Node]:
    node = fields.entries.values.get(name)
    if isinstance(node, Items):
        return node.values
    fields.fault(name, "no list", "a list with a value for each request")
    return ()


def _numbers(fields: Fields, name: str, bounds: Bounds) -> list[float]:
    return _array(fields, Items(tuple(_nodes(fields, name)), fields.entries.line), name, bounds)


def _array(fields: Fields, node: Node, name: str, bounds: Bounds) -> list[float]:
    """The numbers of a list. Only the first that is none is noted: one tells of them all."""
    if not isinstance(node, Items):
        fields.fault(name, "no list", "a list of numbers")
        return []
    inner = {f"{name}[{at}]": value for at, value in enumerate(node.values)}
    cells = Fields(Entries(inner, node.line), fields.file, fields.problems)
    read = cells.integer if bounds is COUNT_OR_ZERO else cells.number
    numbers: list[float] = []
    for at in inner:
        before = len(fields.problems)
        cells.require(at, bounds.words)
        number = read(at, bounds, 0)
        if len(fields.problems) > before:
            break
        numbers.append(number)
    return numbers


def _errors(fields: Fields) -> list[str] | None:
    """Each request's error, "" where it had none; None where the file has no such list."""
    if not fields.has("errors"):
        return None
    inner = {f"errors[{at}]": value for at, value in enumerate(_nodes(fields, "errors"))}
    cells = Fields(Entries(inner, fields.entries.line), fields.file, fields.problems)
    return [cells.optional_text(at) or "" for at in inner]
