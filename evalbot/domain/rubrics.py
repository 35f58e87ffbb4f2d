"""Rubrics: the scale, the automatic bands, the judge's instructions, the rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from evalbot.domain.cases import Checkpoint
from evalbot.fingerprint import fingerprint


class ScorerName(StrEnum):
    """How an answer is scored without a model."""

    FUZZY = "fuzzy"
    EXACT = "exact"
    CONTAINS = "contains"
    CHOICE = "choice"
    NONE = "none"


class Layer(StrEnum):
    """Who graded. Layers lie on one answer, side by side, and are never averaged together."""

    AUTO = "auto"
    JUDGE = "judge"
    HUMAN = "human"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True)
class ScaleStep:
    """One verdict: its credit in [0, 1] (None on a nominal scale) and what it means."""

    verdict: str
    credit: float | None
    means: str
    symbol: str = ""
    key: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RateRule:
    """How verdicts become one number: the mean of their weights; direction is lower or higher."""

    name: str
    title: str
    direction: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Band:
    """Ratios (0 to 100) from which a verdict is given, for folded references up to max_length.

    max_length None: any length. correct or acceptable None: that verdict is not
    given by ratio in this band.
    """

    max_length: int | None = None
    correct: float | None = None
    acceptable: float | None = None


@dataclass(frozen=True, slots=True)
class AutoRule:
    """The automatic scorer of a rubric; all thresholds are ratios from 0 to 100."""

    scorer: ScorerName = ScorerName.NONE
    folding: tuple[str, ...] = ()
    bands: tuple[Band, ...] = ()
    wrong_below: float | None = None
    caps: tuple[str, ...] = ()
    undecided: str = "needs_review"
    acceptable_from: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeRule:
    """What a judge is told beside the scale, and how many replies make a grade."""

    instructions: str = ""
    min_votes: int = 1


@dataclass(frozen=True, slots=True)
class Rubric:
    """A versioned rule by which answers are graded. The scale runs from best to worst."""

    name: str
    version: str
    title: str
    scale: tuple[ScaleStep, ...]
    rate: RateRule
    auto: AutoRule = AutoRule()
    checkpoints: tuple[Checkpoint, ...] = ()
    judge: JudgeRule = field(default_factory=JudgeRule)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The words of the scale, best first."""
        return tuple(step.verdict for step in self.scale)

    def text_for(self, layer: Layer) -> dict[str, Any]:
        """The part of the rubric that grades of this layer rest on, ready for fingerprint()."""
        text: dict[str, Any] = {
            "name": self.name,
            "scale": [[step.verdict, step.credit] for step in self.scale],
        }
        if layer is Layer.AUTO:
            return {**text, "auto": asdict(self.auto)}
        text["means"] = [[step.means, list(step.examples)] for step in self.scale]
        text["checkpoints"] = [asdict(line) for line in self.checkpoints]
        if layer is Layer.JUDGE:
            text["judge"] = asdict(self.judge)
        return text

    def fingerprint_for(self, layer: Layer) -> str:
        """Changes when grades of this layer would be made by another rule."""
        return fingerprint(self.text_for(layer))


class AutoGrade(NamedTuple):
    """What the automatic scorer says: a verdict, or why there is none, with its evidence."""

    verdict: str | None
    unscored_reason: str | None
    evidence: Mapping[str, Any]
