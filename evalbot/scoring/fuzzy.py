"""Character ratio to the nearest accepted text, and the rubric's bands over it."""

from __future__ import annotations

from rapidfuzz import fuzz

from evalbot.domain.rubrics import Band
from evalbot.scoring.caps import capping
from evalbot.scoring.contains import held_trap
from evalbot.scoring.denial import finds_fault
from evalbot.scoring.exact import capped_apart, equal_text
from evalbot.scoring.finding import Finding, Readings
from evalbot.scoring.forms import PreparedCase, Target
from evalbot.scoring.nearest import nearest_text
from evalbot.scoring.verdicts import Kind

_TOLERANCE = 1e-9
"""Ratios are quotients: 93 may come out as 92.99999999999999."""


def fuzzy(case: PreparedCase, answer: Readings) -> Finding:
    """Decide in this order; the first that applies counts.

    1. Equal to a reference after folding, and no cap between them: top.
    2. Equal to an acceptable text, and no cap: middle.
    3. Equal to a trap, or holding one that no accepted text holds: lowest; undecided where
       the answer also holds a whole reference, and the trap outside it (an explanation).
    4. The band of the nearest text: top, middle; at most middle where that is an acceptable
       text; undecided where a cap applies.
    5. A ratio under `wrong_below`: lowest. Else undecided.

    With `undecided: by_ratio`, 1 to 3 hold without caps, and the ratio decides the rest:
    from the band's `correct` top, from `acceptable_from` middle, below lowest. A scale
    without a middle verdict is then lowest below the band, and in 2 and 4 undecided.
    """
    by_ratio = case.rule.undecided == "by_ratio"
    if found := equal_text(case, answer, None if by_ratio else capped_apart):
        return found
    if trap := held_trap(case, answer.bare):
        explained = not by_ratio and _stands_beside_reference(case, trap, answer.bare.folded)
        verdict = None if explained else case.verdicts.lowest
        return Finding(verdict, trap, answer.bare, fuzz.ratio(answer.bare.folded, trap.folded))
    nearest = nearest_text(case, answer)
    return _by_ratio(case, nearest) if by_ratio else _by_band(case, nearest)


def _stands_beside_reference(case: PreparedCase, trap: Target, folded: str) -> bool:
    """Whether a folded answer holds a whole reference, and the trap outside it."""
    return any(
        target.folded in folded and trap.folded in folded.replace(target.folded, "\n")
        for target in case.accepted
        if target.kind is Kind.REFERENCE
    )


def _by_band(case: PreparedCase, found: Finding) -> Finding:
    if found.nearest is None or found.ratio is None:
        return found
    verdict = _band_verdict(case, found.nearest, found.ratio)
    if verdict is not None:
        capped = capping(case, found.differences)
        if not capped and found.ratio < 100 and _calls_itself_wrong(case, found):
            capped = ("negation",)
        return found._replace(verdict=None if capped else verdict, capped=capped)
    lowest_under = case.rule.wrong_below
    if lowest_under is not None and not _reaches(found.ratio, lowest_under):
        return found._replace(verdict=case.verdicts.lowest)
    return found


def _calls_itself_wrong(case: PreparedCase, found: Finding) -> bool:
    """Whether an answer calls itself wrong, in a text too long for the ratio to tell."""
    if "negation" not in case.rule.caps or found.reading is None or found.nearest is None:
        return False
    return finds_fault(found.reading.plain) and not finds_fault(found.nearest.plain)


def _by_ratio(case: PreparedCase, found: Finding) -> Finding:
    if found.nearest is None or found.ratio is None:
        return found
    verdict = _band_verdict(case, found.nearest, found.ratio)
    if verdict is None and _reaches(found.ratio, case.rule.acceptable_from):
        verdict = case.verdicts.middle
    return found._replace(verdict=verdict or case.verdicts.lowest)


def _band_verdict(case: PreparedCase, nearest: Target, ratio: float) -> str | None:
    band = _band(case.rule.bands, len(nearest.folded))
    if _reaches(ratio, band.correct) and nearest.kind is Kind.REFERENCE:
        return case.verdicts.top
    if _reaches(ratio, band.correct) or _reaches(ratio, band.acceptable):
        return case.verdicts.middle
    return None


def _band(bands: tuple[Band, ...], length: int) -> Band:
    """The first band that fits a folded reference of this many characters."""
    for band in bands:
        if band.max_length is None or length <= band.max_length:
            return band
    return Band()


def _reaches(ratio: float, threshold: float | None) -> bool:
    return threshold is not None and ratio >= threshold - _TOLERANCE
