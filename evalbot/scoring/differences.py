"""How a text differs from the nearest of several others, piece by piece, to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

LONGEST = 2_000
"""Characters of a longer text: its differences would be no help to read."""


class Piece(NamedTuple):
    """A stretch of characters: in both texts, only in the answer, or only in the other one."""

    kind: str
    text: str


BOTH, ADDED, MISSING = "both", "added", "missing"


def differences(text: str, others: Sequence[str]) -> tuple[Piece, ...] | None:
    """The pieces that lead from the nearest other text to this one; None where none is useful."""
    candidates = [one for one in others if 0 < len(one) <= LONGEST]
    if not candidates or not 0 < len(text) <= LONGEST:
        return None
    nearest = max(candidates, key=lambda one: fuzz.ratio(text, one))
    return tuple(_pieces(nearest, text))


def _pieces(other: str, text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for step in Indel.opcodes(other, text):
        if step.tag == "equal":
            pieces.append(Piece(BOTH, text[step.dest_start : step.dest_end]))
            continue
        if step.src_end > step.src_start:
            pieces.append(Piece(MISSING, other[step.src_start : step.src_end]))
        if step.dest_end > step.dest_start:
            pieces.append(Piece(ADDED, text[step.dest_start : step.dest_end]))
    return pieces
