"""What is asked of a rate table, and what a line of it holds."""

from __future__ import annotations

from dataclasses import dataclass

from evalbot.auditing.corrected import CorrectedModel
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.stats.rates import Rate


@dataclass(frozen=True, slots=True)
class RateQuery:
    """Which rates: a layer, one judge of it or the panel, by tag or not, of which models.

    corrected: the judge layer's, corrected by what people said of a drawn sample.
    """

    layer: Layer = Layer.AUTO
    judge: str | None = None
    by_tag: bool = False
    models: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians over the answers of a row, and where the timings came from."""

    ttfot_ms_p50: float | None
    decode_tps_p50: float | None
    timing_source: str
    total_ms_p50: float | None = None


@dataclass(frozen=True, slots=True)
class RateRow:
    """One line of the table; asked: the settings in words; notes: about the whole run.

    letters: models that share one cannot be told apart; None where there is nothing to compare.
    """

    run: str
    suite: str
    model: str
    layer: str
    grader: str | None
    tag: str | None
    rubric: Rubric
    rate: Rate
    speed: Speed
    signature: str
    asked: str = ""
    notes: tuple[str, ...] = ()
    letters: str | None = None
    corrected: CorrectedModel | None = None
