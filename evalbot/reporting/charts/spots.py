"""Which speed rows a chart draws, and under which names; what was left out and why."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalbot.domain.speed import SpeedRow, SpeedStatus
from evalbot.reporting.charts.look import Look, looks, shown

NO_FIGURES = {
    SpeedStatus.FAILED: "failed",
    SpeedStatus.OOM: "out of memory",
    SpeedStatus.CONTEXT_OVERFLOW: "beyond the context",
    SpeedStatus.DEVICE_LOST: "with a lost device",
}
"""Rows that are not drawn, in the words that follow their count."""

SETTINGS = ("label", "hardware", "backend")
"""What may set lines of one model apart."""

MOST_DASHES = 5
"""So many settings are told apart by dashes; with more, each line gets its own colour and shape."""


class Spot(NamedTuple):
    """A row that can be drawn. top: where its whisker ends; panel: its small multiple."""

    row: SpeedRow
    x: float
    y: float
    top: float | None = None
    panel: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A spot as the chart's data holds it.

    name: as in the legend; setting: what dashes stand for; flag: the status, or "" for ok;
    stretch: the part of the line that it lies on; evidence: why it is flagged; drawn_x: x,
    moved a little where marks would hide each other.
    """

    panel: str
    name: str
    setting: str
    stretch: int
    x: float
    drawn_x: float
    y: float
    top: float | None
    flag: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of a chart; looks of their names; dashed_by: the settings behind dashes, or ()."""

    marks: tuple[Mark, ...]
    looks: dict[str, Look]
    dashed_by: tuple[str, ...]


def sort_out(
    rows: Iterable[SpeedRow], spot_of: Callable[[SpeedRow], Spot | str]
) -> tuple[list[Spot], Counter[str]]:
    """The spots to draw, and how many rows are not drawn for which reason.

    spot_of: a row's spot or, in the words that follow a count, why it has none. Rows of a
    status without figures are not asked.
    """
    spots: list[Spot] = []
    reasons: Counter[str] = Counter()
    for row in rows:
        spot = NO_FIGURES.get(row.status) or spot_of(row)
        if isinstance(spot, str):
            reasons[spot] += 1
        else:
            spots.append(spot)
    return spots, reasons


def positive(value: float | None) -> float | None:
    """A figure that an axis of logarithms can hold; None for any other."""
    return value if value is not None and math.isfinite(value) and value > 0 else None


def marks_of(spots: Sequence[Spot], models: Iterable[str]) -> Marks:
    """The spots with names and looks; models: all of the set of figures, drawn or not.

    Colour and shape tell the model, and dashes its settings where it has several. With one
    model, or more settings than dashes can tell, colour and shape tell both together.
    """
    differing = _differing(spots)
    settings = [_in_words(spot.row, differing) for spot in spots]
    names = [shown(spot.row.model) for spot in spots]
    everyone = [*names, *(shown(model) for model in models)]
    if differing and (len(set(names)) == 1 or len(set(settings)) > MOST_DASHES):
        names = [f"{name} ({setting})" for name, setting in zip(names, settings, strict=True)]
        everyone, differing = names, ()
    stretches = _stretches(spots, list(zip(names, settings, strict=True)))
    marks = tuple(
        Mark(
            panel=spot.panel,
            name=name,
            setting=setting,
            stretch=stretch,
            x=spot.x,
            drawn_x=spot.x,
            y=spot.y,
            top=spot.top,
            flag="" if spot.row.status is SpeedStatus.OK else spot.row.status,
            evidence=shown(spot.row.evidence) if spot.row.evidence else "",
        )
        for spot, name, setting, stretch in zip(spots, names, settings, stretches, strict=True)
    )
    drawn = {name: look for name, look in looks(everyone).items() if name in names}
    return Marks(marks, drawn, differing)


def _stretches(spots: Sequence[Spot], lines: Sequence[tuple[str, str]]) -> list[int]:
    """For each spot, how many gaps of its line lie before it.

    A gap is an x at which a line has flagged spots alone: a line through it would say that
    things went well there.
    """
    good: defaultdict[tuple[str, tuple[str, str]], set[float]] = defaultdict(set)
    flagged: defaultdict[tuple[str, tuple[str, str]], set[float]] = defaultdict(set)
    for spot, line in zip(spots, lines, strict=True):
        kind = good if spot.row.status is SpeedStatus.OK else flagged
        kind[spot.panel, line].add(spot.x)
    return [
        sum(gap < spot.x for gap in flagged[spot.panel, line] - good[spot.panel, line])
        for spot, line in zip(spots, lines, strict=True)
    ]


def _differing(spots: Sequence[Spot]) -> tuple[str, ...]:
    """The settings in which rows of one model differ."""
    found: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    for spot in spots:
        for setting in SETTINGS:
            found[spot.row.model, setting].add(getattr(spot.row, setting))
    several = {setting for (_, setting), values in found.items() if len(values) > 1}
    found_by = [setting for setting in SETTINGS if setting in several]
    machine = [setting for setting in found_by if setting != "label"]
    if machine and "label" in found_by and _tell_all(spots, machine):
        return tuple(machine)  # a label that each machine has its own of says nothing more
    return tuple(found_by)


def _tell_all(spots: Iterable[Spot], settings: Sequence[str]) -> bool:
    """Whether these settings alone tell all lines of each model apart."""
    labels: defaultdict[tuple[object, ...], set[str | None]] = defaultdict(set)
    for spot in spots:
        values = (getattr(spot.row, setting) for setting in settings)
        labels[spot.row.model, *values].add(spot.row.label)
    return all(len(found) == 1 for found in labels.values())


def _in_words(row: SpeedRow, settings: Sequence[str]) -> str:
    values = [(setting, getattr(row, setting)) for setting in settings]
    return ", ".join(f"no {name}" if value is None else shown(value) for name, value in values)
