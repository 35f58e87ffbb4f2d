"""The rates of one run, a row per model and pass, and per tag where asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from evalbot import __version__
from evalbot.auditing.gathering import cluster_of
from evalbot.auditing.pairs import letters_by_pairs
from evalbot.auditing.scores import Scores
from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.grading.basis import Basis
from evalbot.grading.effective import VOTE_MARK, effective
from evalbot.grading.staleness import Rules
from evalbot.reporting.judge_coverage import JudgeCoverage
from evalbot.reporting.rate_rows import RateQuery, RateRow, Speed
from evalbot.stats.rates import CaseGrades, Graded, rate_of
from evalbot.store.answers import AnswerGlance
from evalbot.store.glances import GradeGlance


class RunTable:
    """The rows of one run.

    judged: by judge, what it has graded; verdicts: how many it gave; coverage: of the judge layer.
    """

    coverage: JudgeCoverage | None = None

    def __init__(
        self,
        run: Run,
        basis: Basis,
        query: RateQuery,
        answers: Sequence[AnswerGlance],
        grades: Iterable[GradeGlance],
    ) -> None:
        self._run = run
        self._basis = basis
        self._query = query
        self._rules = Rules.of(basis)
        self._cases_fingerprint = fingerprint(dict(self._rules.cases))
        self._case_of = {answer.id: answer.case for answer in answers}
        self.judged: dict[str, list[int]] = defaultdict(list)
        self.verdicts: Counter[str] = Counter()
        self.graded = dict(self._grade_all(grades))
        self._answers: dict[tuple[str, int], dict[str, list[AnswerGlance]]] = {}
        for answer in answers:
            by_case = self._answers.setdefault((answer.endpoint, answer.pass_), defaultdict(list))
            by_case[answer.case].append(answer)

    def rows(self) -> Iterator[RateRow]:
        """Best first; a row per model and pass, and per tag where asked for."""
        tags: Sequence[str | None] = [None]
        if self._query.by_tag:
            tags = sorted({tag for case in self._basis.suite.cases for tag in case.tags})
        for tag in tags:
            made = [
                self._row(endpoint, pass_, tag)
                for endpoint in self._run.endpoints
                for pass_ in (1, 2)
                if pass_ == 1 or (endpoint.name, pass_) in self._answers
                if not self._query.models
                or endpoint.name in self._query.models
                or (pass_ == 2 and endpoint.name + CHECK_SUFFIX in self._query.models)
            ]
            scores = {row.model: own for row, own in made if not row.model.endswith(CHECK_SUFFIX)}
            letters = self._letters(scores)
            rows = [replace(row, letters=letters.get(row.model)) for row, _ in made]
            yield from sorted(rows, key=self._order)

    def _letters(self, scores: Mapping[str, Scores]) -> Mapping[str, str]:
        """Of the models themselves: a self-check is no other model."""
        if sum(bool(own.weights) for own in scores.values()) < 2:
            return {}
        return letters_by_pairs(scores, self._basis.rubric.rate)

    def _order(self, row: RateRow) -> tuple[bool, float]:
        rate = row.rate.rate
        if rate is None:
            return (True, 0.0)
        return (False, rate if row.rubric.rate.direction == "lower" else -rate)

    def _row(self, endpoint: RunEndpoint, pass_: int, tag: str | None) -> tuple[RateRow, Scores]:
        """A row, and what its rate was taken of."""
        answers = self._answers.get((endpoint.name, pass_), {})
        cases = [case for case in self._basis.suite.cases if tag is None or tag in case.tags]
        grades = [
            CaseGrades(self._repeats(endpoint.name, pass_, case.key), case.cluster)
            for case in cases
        ]
        shown = [answer for case in cases for answer in answers.get(case.key, [])]
        row = RateRow(
            run=self._run.id,
            suite=self._run.suite.name,
            model=endpoint.name + (CHECK_SUFFIX if pass_ == 2 else ""),
            layer=str(self._query.layer),
            grader=self._query.judge,
            tag=tag,
            rubric=self._basis.rubric,
            rate=rate_of(grades, self._basis.rubric.rate.weights),
            speed=_speed(shown),
            signature=self._signature(endpoint),
            asked=in_words(endpoint.settings),
            notes=self._notes(),
        )
        return row, self._scores(cases, grades)

    def _scores(self, cases: Sequence[Case], grades: Sequence[CaseGrades]) -> Scores:
        rule = self._basis.rubric.rate.weights
        weights: dict[str, list[float]] = {}
        clusters: dict[str, str] = {}
        for case, own in zip(cases, grades, strict=True):
            scored = [rule[one.verdict] for one in own.repeats if one.verdict and not one.stale]
            if scored:
                weights[case.key] = scored
                clusters[case.key] = cluster_of(case)
        return Scores(weights, clusters)

    def _notes(self) -> tuple[str, ...]:
        notes = [] if self._basis.note is None else [self._basis.note]
        if self._run.state in (RunState.RUNNING, RunState.STOPPED):
            notes.append(
                f"run {self._run.id} is not finished: what was not asked yet is unscored as "
                f"not_graded (evalbot run --resume {self._run.id})"
            )
        if self.coverage is not None:
            notes += self.coverage.notes
        return tuple(notes)

    def _repeats(self, endpoint: str, pass_: int, case: str) -> list[Graded]:
        """One entry per repeat of the run, asked or not."""
        found = self._answers.get((endpoint, pass_), {}).get(case, [])
        graded = [self._graded_or_why_not(answer) for answer in found]
        if pass_ == 2:
            there = {answer.repeat for answer in found}
            # What was not there to be checked is unscored by why it was not.
            graded += [
                Graded(None, answer.status)
                for answer in self._answers.get((endpoint, 1), {}).get(case, [])
                if answer.repeat not in there and answer.status != AnswerStatus.OK
            ]
        return graded + [Graded()] * (self._run.repeats - len(graded))

    def _graded_or_why_not(self, answer: AnswerGlance) -> Graded:
        """Judges are not asked about failed answers: these are unscored as they were."""
        is_left_out = self._query.layer is Layer.JUDGE and answer.status != AnswerStatus.OK
        return self.graded.get(answer.id, Graded(None, answer.status) if is_left_out else Graded())

    def _grade_all(self, grades: Iterable[GradeGlance]) -> Iterator[tuple[int, Graded]]:
        for answer_id, together in _by_answer(grades):
            if self._query.layer is Layer.JUDGE:
                for name in {one.grader for one in together if VOTE_MARK not in one.grader}:
                    self.judged[name].append(answer_id)
                self.verdicts.update(one.grader for one in together if one.verdict is not None)
            yield (
                answer_id,
                effective(self._query.layer, together, self._is_stale, self._query.judge),
            )

    def _is_stale(self, grade: GradeGlance) -> bool:
        return self._rules.is_stale(self._case_of[grade.answer_id], grade)

    def _signature(self, endpoint: RunEndpoint) -> str:
        rubric, layer = self._basis.rubric, self._query.layer
        weights = ",".join(f"{name}:{rubric.rate.weights[name]:g}" for name in rubric.verdicts)
        parts = [
            f"rate:{rubric.rate.name}",
            f"weights:{weights}",
            f"layer:{layer}",
        ]
        if layer is Layer.AUTO:
            auto = rubric.auto
            parts.append(f"scorer:{auto.scorer}")
            parts.append(f"folding:{'+'.join(auto.folding) or 'none'}")
            undecided = auto.undecided
            if undecided == "by_ratio":
                undecided = f"by_ratio>={auto.acceptable_from:g}"
            parts.append(f"undecided:{undecided}")
        if layer is Layer.JUDGE:
            parts.append(f"judge:{self._query.judge or 'majority'}")
            if self.coverage is not None:
                parts.append(self.coverage.signature)
        parts += [
            f"rubric:{rubric.name}@{rubric.version}/{self._rules.layers[layer][:8]}",
            f"cases:{len(self._rules.cases)}/{self._cases_fingerprint[:8]}",
            f"asked:{endpoint.settings_fingerprint[:8]}",
            f"model:{(endpoint.model_fingerprint or 'unknown')[:8]}",
            f"repeats:{self._run.repeats}",
            f"ci:{self._interval_name()}",
            f"v:{__version__}",
        ]
        return "|".join(parts)

    def _interval_name(self) -> str:
        clustered = any(case.cluster for case in self._basis.suite.cases)
        return "wilson-frac-clustered" if clustered else "wilson-frac"


def _by_answer(grades: Iterable[GradeGlance]) -> Iterator[tuple[int, list[GradeGlance]]]:
    together: list[GradeGlance] = []
    for grade in grades:
        if together and together[0].answer_id != grade.answer_id:
            yield together[0].answer_id, together
            together = []
        together.append(grade)
    if together:
        yield together[0].answer_id, together


def in_words(settings: Mapping[str, Any]) -> str:
    """Sampling and thinking as a reader knows them."""
    said = [f"{name} {value}" for name, value in sorted(settings.get("sampling", {}).items())]
    if settings.get("thinking") not in (None, "default"):
        said.append(f"thinking {settings['thinking']}")
    said += [f"{name} {value}" for name, value in sorted(settings.get("extra_body", {}).items())]
    return ", ".join(said)


def _speed(answers: Sequence[AnswerGlance]) -> Speed:
    first = [answer.ttfot_ms for answer in answers if answer.ttfot_ms is not None]
    decode = [answer.decode_tps for answer in answers if answer.decode_tps is not None]
    whole = [answer.total_ms for answer in answers if answer.total_ms is not None]
    sources = {answer.timing_source for answer in answers} - {"none"}
    return Speed(
        ttfot_ms_p50=median(first) if first else None,
        decode_tps_p50=median(decode) if decode else None,
        timing_source="+".join(sorted(sources)) or "none",
        total_ms_p50=median(whole) if whole else None,
    )
