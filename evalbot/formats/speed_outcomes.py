"""What a typed-in line of a speed table measured, and whether that may be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbot.domain.speed import SpeedStatus
from evalbot.formats.fields import COUNT, COUNT_OR_ZERO, Bounds, Fields
from evalbot.formats.problems import shown
from evalbot.formats.speed_words import one_line, status_of
from evalbot.formats.tree import Entries, Scalar

FIGURE = Bounds("0, or a number from 0.000001 to 1000000000000", at_least=0, at_most=1e12)
"""A time or rate that can be one: ratios of others could not be told in digits."""

SMALLEST = 1e-6
ABOUT = "~"
NOTHING = "neither a figure nor a failure written"


class Measured(NamedTuple):
    """Numbers by the field they go into, as they were written, and which are only about."""

    values: Mapping[str, float]
    written: str
    about: str


NONE_MEASURED = Measured({}, "", "")


class Outcome(NamedTuple):
    """A line's status, the words for it, and the figures that may be used."""

    status: SpeedStatus
    evidence: str | None
    figures: Mapping[str, Any]


def measured(fields: Fields, columns: Mapping[str, str], bounds: Bounds = FIGURE) -> Measured:
    """The numbers of these columns, each mapped to its field; `~` before one means about."""
    values = {}
    written = []
    about = []
    for name, field in columns.items():
        value, text = number(fields, name, bounds)
        if text is None:
            continue
        written.append(f"{name} {text}")
        if text.startswith(ABOUT):
            about.append(f"{name} {text}")
        if value is not None:
            values[field] = value
    return Measured(values, ", ".join(written), ", ".join(about))


def number(fields: Fields, name: str, bounds: Bounds) -> tuple[float | None, str | None]:
    """A number and how it was written; both None where nothing stands."""
    text = fields.optional_text(name)
    if text is None:
        return None, None
    text = text.strip()
    bare = Scalar(text.removeprefix(ABOUT).strip(), fields.entries.line, quoted=True)
    inner = Fields(Entries({name: bare}, bare.line), fields.file, fields.problems, fields.path)
    whole = bounds in (COUNT, COUNT_OR_ZERO)
    if whole:
        return inner.integer(name, bounds), text
    return figure(inner, name, bounds), text


def figure(fields: Fields, name: str, bounds: Bounds = FIGURE) -> float | None:
    """A measured number; a problem is noted where it is too small or too large to be one."""
    value = fields.number(name, bounds)
    if value is not None and not is_figure(value):
        fields.fault(name, shown(fields.optional_text(name) or ""), FIGURE.words)
        return None
    return value


def is_figure(value: float) -> bool:
    """Whether a time or rate can be one."""
    return value == 0 or SMALLEST <= value <= FIGURE.at_most


def outcome_of(
    fields: Fields, seen: Measured, together: Sequence[str], conditions: Measured = NONE_MEASURED
) -> Outcome:
    """What to make of a line with a failure column.

    together: the cells that name several conditions in one. Numbers of several conditions
    belong to none of them, so that they are only told.
    """
    failure = fields.optional_text("failure")
    if failure is None:
        return outcome_without_failure(seen, together, conditions)
    if any(seen.values.values()):
        found = f"{shown(failure)} beside {seen.written}"
        fields.fault("failure", found, "either a failure or figures")
    words = [one_line(failure)]
    if together:
        words += [f"written for {', '.join(together)} together", conditions.written]
    return Outcome(status_of(failure), "; ".join(filter(None, words)), {})


def outcome_without_failure(
    seen: Measured, together: Sequence[str] = (), conditions: Measured = NONE_MEASURED
) -> Outcome:
    """What to make of the figures of a line that names no failure."""
    if together:
        told = ", ".join(filter(None, (conditions.written, seen.written))) or NOTHING
        words = f"written for {', '.join(together)} together: {told}"
        return Outcome(SpeedStatus.FAILED, words, {})
    if not seen.values:
        return Outcome(SpeedStatus.FAILED, NOTHING, {})
    if _has_zero_rate(seen.values):
        return Outcome(SpeedStatus.FAILED, f"{seen.written} written", {})
    about = ", ".join(filter(None, (conditions.about, seen.about)))
    return Outcome(SpeedStatus.OK, f"about: {about}" if about else None, seen.values)


def _has_zero_rate(values: Mapping[str, float]) -> bool:
    """Whether a rate is 0, which is none; a stream's beside a total above 0 is a rounded one."""
    return any(
        value == 0 and not (field == "stream_tps_p50" and values.get("aggregate_tps"))
        for field, value in values.items()
        if "tps" in field
    )
