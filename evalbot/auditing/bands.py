"""The automatic bands against people: how often each is wrong, and what thresholds would do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalbot.auditing.gathering import AuditedAnswer, Gathered
from evalbot.domain.rubrics import Band, ScorerName
from evalbot.scoring.normalise import Folder
from evalbot.scoring.verdicts import Kind, verdicts_of
from evalbot.stats.thresholds import Threshold, propose_threshold
from evalbot.stats.wilson import Interval, wilson

EQUAL = 100.0


@dataclass(frozen=True, slots=True)
class BandError:
    """An automatic verdict given in one way: of n that people graded, so many were other ones."""

    band: str
    verdict: str
    n: int
    errors: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The lowest ratio that keeps the error at most as wished; found None: none does.

    line: of the rubric's bands, by the length it holds for. today: the threshold there now.
    seen: answers with a ratio that people graded.
    """

    line: str
    verdict: str
    today: float | None
    seen: int
    found: Threshold | None


class _Seen(NamedTuple):
    answer: AuditedAnswer
    truth: str
    evidence: Mapping[str, Any]
    length: int


class Bands:
    """The reviewed answers of a run by the way their automatic verdict came about."""

    def __init__(self, gathered: Gathered, evidence: Mapping[int, Mapping[str, Any]]) -> None:
        self._rubric = gathered.basis.rubric
        self._seen = list(_seen(gathered, evidence))

    def errors(self) -> tuple[BandError, ...]:
        """Every band that people have looked at, best verdict first."""
        found: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for one in self._seen:
            verdict = one.answer.auto.verdict
            if verdict is not None and not one.answer.auto.stale:
                found[verdict, self._band(verdict, one)].append(one.truth != verdict)
        order = self._rubric.verdicts
        return tuple(
            BandError(band, verdict, len(wrong), sum(wrong), wilson(sum(wrong), len(wrong)))
            for (verdict, band), wrong in sorted(
                found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])
            )
        )

    def proposals(self, wished_error: float) -> tuple[Proposal, ...]:
        """For each line of the bands, thresholds that would have met the wished error."""
        if self._rubric.auto.scorer is not ScorerName.FUZZY:
            return ()
        words = verdicts_of(self._rubric)
        made: list[Proposal] = []
        shorter = 0
        for band in self._rubric.auto.bands:
            lengths = range(shorter, 10**9 if band.max_length is None else band.max_length + 1)
            near = [one for one in self._seen if one.length in lengths and _by_ratio_alone(one)]
            ratios = [float(one.evidence["ratio"]) for one in near]
            line = _line(band, shorter)
            right = [one.truth == words.top for one in near]
            found = propose_threshold(ratios, right, wished_error)
            made.append(Proposal(line, words.top, band.correct, len(near), found))
            if words.middle is not None:
                right = [one.truth in (words.top, words.middle) for one in near]
                found = propose_threshold(ratios, right, wished_error)
                made.append(Proposal(line, words.middle, band.acceptable, len(near), found))
            shorter = lengths.stop
        return tuple(made)

    def _band(self, verdict: str, one: _Seen) -> str:
        evidence, auto = one.evidence, self._rubric.auto
        if evidence.get("nearest_kind") == Kind.TRAP:
            return f"{verdict}: trap"
        if auto.scorer is not ScorerName.FUZZY:
            return f"{verdict}: {auto.scorer}"
        ratio = evidence.get("ratio")
        if ratio is None or ratio >= EQUAL:
            return f"{verdict}: equal"
        line = self._line_of(one.length)
        if auto.undecided == "by_ratio" and verdict != verdicts_of(self._rubric).top:
            return f"{verdict}: by ratio, {line}"
        if auto.wrong_below is not None and ratio < auto.wrong_below:
            return f"{verdict}: ratio under {auto.wrong_below:g}"
        return f"{verdict}: near, {line}"

    def _line_of(self, length: int) -> str:
        """The line of the rubric's bands that a reference of this length falls under."""
        shorter = 0
        for band in self._rubric.auto.bands:
            if band.max_length is None or length <= band.max_length:
                return _line(band, shorter)
            shorter = band.max_length + 1
        return "no line of the bands"


def _seen(gathered: Gathered, evidence: Mapping[int, Mapping[str, Any]]) -> Iterator[_Seen]:
    folding = gathered.basis.rubric.auto.folding
    folders = {
        (run, case.key): Folder(folding, basis.suite.language_of(case).target)
        for run, basis in gathered.bases.items()
        for case in basis.suite.cases
    }
    lengths: dict[tuple[str, str, str], int] = {}
    for answer in gathered.answers:
        truth = answer.truth
        if truth.verdict is None or truth.stale:
            continue
        known = evidence.get(answer.row.id, {})
        nearest = known.get("nearest")
        length = 0
        if nearest:
            text = answer.run, answer.row.case, nearest
            if text not in lengths:
                lengths[text] = len(folders[answer.run, answer.row.case].fold(nearest))
            length = lengths[text]
        yield _Seen(answer, truth.verdict, known, length)


def _by_ratio_alone(one: _Seen) -> bool:
    """Whether its ratio could decide: to an accepted text, and with nothing that caps it."""
    evidence = one.evidence
    return (
        evidence.get("ratio") is not None
        and evidence.get("nearest_kind") == Kind.REFERENCE
        and not evidence.get("cap")
    )


def _line(band: Band, shorter: int) -> str:
    """In words, the lengths that a line holds for; shorter: the first one."""
    if band.max_length is not None:
        return f"up to {band.max_length} characters"
    return f"from {shorter} characters" if shorter else "any length"
