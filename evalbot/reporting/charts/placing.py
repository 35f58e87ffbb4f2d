"""Where names stand beside points, so that they cover neither points nor each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from math import cos, hypot, pi, sin
from typing import Literal, NamedTuple

LETTER, WIDE_LETTER = 5.9, 11.2
"""Pixels that a letter takes at font size 11, generously."""

LINE = 14
"""Pixels of height of a name."""

RADIUS = 6
"""Pixels from the middle of a point to its edge."""

COVERING, CROSSING = 20, 2
"""What a pixel costs that is covered: of points, names and margins, and of whiskers."""

TANGLED, MISTAKEN = 60, 30
"""What it costs that a lead crosses another, a name or a point, and that a name stands nearer
to another point than to its own."""

DISTANCES = (10, 18, 28, 42, 60, 84)
DIRECTIONS = tuple(step * pi / 8 for step in range(16))
ROUNDS = 4


Align = Literal["left", "center", "right"]
ALIGNS: tuple[Align, ...] = ("left", "center", "right")


class Box(NamedTuple):
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def shared(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The place in the rectangle that is nearest to this one."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


class Point(NamedTuple):
    """A point to be named, with its whiskers: low and high ends on each axis, in pixels."""

    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    name_width: float

    @property
    def box(self) -> Box:
        """What the mark covers."""
        return Box(self.x - RADIUS, self.y - RADIUS, self.x + RADIUS, self.y + RADIUS)

    def away(self, box: Box) -> float:
        """Pixels to a rectangle."""
        x, y = box.nearest(self.x, self.y)
        return hypot(x - self.x, y - self.y)


class Line(NamedTuple):
    """A straight line in pixels."""

    x1: float
    y1: float
    x2: float
    y2: float

    def crosses(self, other: Line) -> bool:
        """Whether they cross; touching is no crossing."""
        return _sides(self, other) < 0 and _sides(other, self) < 0

    def passes(self, box: Box) -> bool:
        """Whether it goes through a rectangle."""
        return self.crosses(Line(*box)) or self.crosses(
            Line(box.left, box.bottom, box.right, box.top)
        )


class Place(NamedTuple):
    """Where a name is written, from which end, and the lead to it from its point."""

    box: Box
    align: Align
    lead: Line

    @property
    def x(self) -> float:
        """Where the name is fastened: its left, middle or right."""
        ends = {"left": self.box.left, "right": self.box.right}
        return ends.get(self.align, (self.box.left + self.box.right) / 2)

    @property
    def y(self) -> float:
        """Its middle line."""
        return (self.box.top + self.box.bottom) / 2


def width_of(name: str, limit: float) -> float:
    """The pixels that a name takes, at most limit."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in name)
    return min(limit, wide * WIDE_LETTER + (len(name) - wide) * LETTER)


def place_names(points: Sequence[Point], width: float, height: float) -> list[Place]:
    """A place for each name in a plot of this size.

    Each takes the cheapest place given all others, a few times over.
    """
    tried = [[_place(point, d, a) for d in DISTANCES for a in DIRECTIONS] for point in points]
    plot = Box(0, 0, width, height)
    alone = [
        [_cost(place, one, points, plot) for place in places] for one, places in enumerate(tried)
    ]
    chosen = [places[_cheapest(costs)] for places, costs in zip(tried, alone, strict=True)]
    for _ in range(ROUNDS):
        for one, places in enumerate(tried):
            others = chosen[:one] + chosen[one + 1 :]
            costs = [
                cost + sum(_cost_together(place, other) for other in others)
                for cost, place in zip(alone[one], places, strict=True)
            ]
            chosen[one] = places[_cheapest(costs)]
    return chosen


def _place(point: Point, distance: float, direction: float) -> Place:
    """The name at a distance from its point; direction 0 is to the right, a quarter is below."""
    across, down = cos(direction), sin(direction)
    x = point.x + distance * across
    y = point.y + (distance + LINE / 2) * down
    align: Align = "center"
    left = x - point.name_width / 2
    if across > 0.3:
        align, left = "left", x
    elif across < -0.3:
        align, left = "right", x - point.name_width
    box = Box(left, y - LINE / 2, left + point.name_width, y + LINE / 2)
    return Place(box, align, Line(point.x, point.y, *box.nearest(point.x, point.y)))


def _cost(place: Place, one: int, points: Sequence[Point], plot: Box) -> float:
    """What a place for one point's name costs whatever the other names do."""
    box, own = place.box, points[one].away(place.box)
    area = (box.right - box.left) * (box.bottom - box.top)
    cost = own + COVERING * (area - box.shared(plot))
    for number, point in enumerate(points):
        cost += COVERING * box.shared(point.box)
        cost += CROSSING * sum(box.shared(whisker) for whisker in _whiskers(point))
        if number != one:
            cost += TANGLED * place.lead.passes(point.box) + MISTAKEN * (point.away(box) < own)
    return cost


def _cost_together(place: Place, other: Place) -> float:
    """What two places cost each other."""
    tangled = (
        place.lead.crosses(other.lead)
        or place.lead.passes(other.box)
        or other.lead.passes(place.box)
    )
    return COVERING * place.box.shared(other.box) + TANGLED * tangled


def _whiskers(point: Point) -> Iterator[Box]:
    yield Box(point.left, point.y - 0.5, point.right, point.y + 0.5)
    yield Box(point.x - 0.5, point.top, point.x + 0.5, point.bottom)


def _sides(line: Line, other: Line) -> float:
    """Negative where the ends of the other line lie on different sides of this one."""
    across, down = line.x2 - line.x1, line.y2 - line.y1
    first = across * (other.y1 - line.y1) - down * (other.x1 - line.x1)
    second = across * (other.y2 - line.y1) - down * (other.x2 - line.x1)
    return first * second


def _cheapest(costs: Sequence[float]) -> int:
    return min(range(len(costs)), key=costs.__getitem__)
