"""The per-model rate table: one row per suite, model and, where asked for, tag."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from evalbot import __version__
from evalbot.domain.answers import AnswerStatus
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.errors import InputError, NotFoundError
from evalbot.fingerprint import fingerprint
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.problems import nearest
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.effective import VOTE_MARK, effective, layers_behind
from evalbot.grading.staleness import Rules
from evalbot.reporting.judge_coverage import JudgeCoverage, judge_coverage
from evalbot.stats.rates import CaseGrades, Graded, Rate, rate_of
from evalbot.store import runs
from evalbot.store.answers import AnswerGlance, glance_at_answers
from evalbot.store.database import Connection, Database
from evalbot.store.glances import GradeGlance, glance_at_grades
from evalbot.store.judging import judges_used


@dataclass(frozen=True, slots=True)
class RateQuery:
    """Which rates: a layer, one judge of it or the panel, by tag or not, of which models."""

    layer: Layer = Layer.AUTO
    judge: str | None = None
    by_tag: bool = False
    models: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians over the answers of a row, and where the timings came from."""

    ttfot_ms_p50: float | None
    decode_tps_p50: float | None
    timing_source: str
    total_ms_p50: float | None = None


@dataclass(frozen=True, slots=True)
class RateRow:
    """One line of the table; asked: the settings in words; notes: about the whole run."""

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


def rate_rows(
    database: Database, run_ids: Sequence[str], folder: Path, query: RateQuery
) -> list[RateRow]:
    """Rates of these runs, or of the newest run of each suite.

    Rows come by suite and then from best to worst; models without a rate come last.
    Raises NotFoundError where nothing fits the query.
    """
    rows: list[RateRow] = []
    with database.read() as connection:
        chosen = chosen_runs(connection, run_ids, query.suites)
        refuse_unknown(connection, chosen, query)
        for run in chosen:
            rows += rates_of_run(connection, run, basis_of(run, folder), query)
    return rows


def chosen_runs(
    connection: Connection, run_ids: Sequence[str], suites: Sequence[str] = ()
) -> list[Run]:
    """These runs, or the newest of each suite; NotFoundError where there is none."""
    names = list(run_ids) or runs.newest_run_per_suite(connection, suites)
    if not names and not suites:
        raise NotFoundError(
            "there are no runs yet; `evalbot run SUITE` makes one, `evalbot import` brings one"
        )
    found = [runs.get_run(connection, name) for name in names]
    chosen = [run for run in found if not suites or run.suite.name in suites]
    if not chosen:
        raise NotFoundError(f"there is no run of suite {', '.join(suites)}")
    return chosen


def rates_of_run(connection: Connection, run: Run, basis: Basis, query: RateQuery) -> list[RateRow]:
    """The rows of one run, seen in a transaction that is open already."""
    answers = list(glance_at_answers(connection, run.id))
    grades = glance_at_grades(connection, run.id, layers_behind(query.layer))
    table = _RunTable(run, basis, query, answers, grades)
    if query.layer is Layer.JUDGE:
        table.coverage = judge_coverage(
            connection, run.id, answers, table.judged, table.verdicts, query.judge
        )
    return list(table.rows())


class _RunTable:
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
            yield from sorted(made, key=self._order)

    def _order(self, row: RateRow) -> tuple[bool, float]:
        rate = row.rate.rate
        if rate is None:
            return (True, 0.0)
        return (False, rate if row.rubric.rate.direction == "lower" else -rate)

    def _row(self, endpoint: RunEndpoint, pass_: int, tag: str | None) -> RateRow:
        answers = self._answers.get((endpoint.name, pass_), {})
        cases = [case for case in self._basis.suite.cases if tag is None or tag in case.tags]
        grades = [
            CaseGrades(self._repeats(endpoint.name, pass_, case.key), case.cluster)
            for case in cases
        ]
        shown = [answer for case in cases for answer in answers.get(case.key, [])]
        return RateRow(
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
            asked=_in_words(endpoint.settings),
            notes=self._notes(),
        )

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


def _in_words(settings: Mapping[str, Any]) -> str:
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


def refuse_unknown(connection: Connection, chosen: Sequence[Run], query: RateQuery) -> None:
    """Raises NotFoundError for a model or judge that these runs do not have."""
    known = {endpoint.name for run in chosen for endpoint in run.endpoints}
    for name in query.models:
        if name.removesuffix(CHECK_SUFFIX) not in known:
            close = nearest(name, known)
            hint = f"did you mean {close}?" if close else f"there are: {', '.join(sorted(known))}"
            raise NotFoundError(f"no model {name!r} in these runs; {hint}")
    if query.judge is not None and query.layer is not Layer.JUDGE:
        raise InputError("--judge goes with --layer judge")
    if query.judge is not None:
        _refuse_unknown_judge(connection, chosen, query.judge)


def _refuse_unknown_judge(connection: Connection, chosen: Sequence[Run], judge: str) -> None:
    known = {one.name for run in chosen for one in judges_used(connection, run.id)}
    if judge.partition(VOTE_MARK)[0] not in known:
        there = f"there are: {', '.join(sorted(known))}" if known else "nothing was judged yet"
        raise NotFoundError(f"no judge {judge!r} has graded these runs; {there}")
