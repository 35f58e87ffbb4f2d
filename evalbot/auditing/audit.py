"""Is the judge right, is the rubric clear: all that people's grades show of a run's others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evalbot.auditing.bands import BandError, Bands, Proposal
from evalbot.auditing.checkpoints import CheckpointAudit, audit_checkpoints
from evalbot.auditing.gathering import Gathered, gather
from evalbot.auditing.judge_probes import JudgeProbes, probes_of_runs
from evalbot.auditing.judged import Judged, judged_by
from evalbot.auditing.judges import JudgeAudit, audit_judge, default_score
from evalbot.auditing.raters import NO_RATERS, Raters, audit_raters
from evalbot.auditing.speeds import Speeds
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.errors import InputError
from evalbot.formats.words import count
from evalbot.store.audited import (
    count_grades_after_judge,
    evidence_of_reviewed,
    ticks_to_audit,
)
from evalbot.store.database import Connection, Database
from evalbot.store.grades import pseudonyms

SCORES = ("accuracy", "neg_rmse")


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What is asked. score None: by the scale; wished_error: of the proposed thresholds.

    names: reviewers under their own names, else under their pseudonyms. about_judges,
    about_people: which halves are wanted; people's also has the automatic bands.
    """

    epsilon: float = 0.2
    score: str | None = None
    wished_error: float = 0.05
    names: bool = False
    about_judges: bool = True
    about_people: bool = True


class Disagreement(NamedTuple):
    """An answer on which a judge and people gave different verdicts."""

    case: str
    model: str
    judge: str
    human: str
    judge_grader: str
    repeat: int
    run: str
    answer: int
    distance: float | None


@dataclass(frozen=True, slots=True)
class Audit:
    """Runs of one suite, by today's rubric. stale: by layer, answers whose grade there is old."""

    suite: str
    runs: tuple[str, ...]
    rubric: Rubric
    judges: tuple[JudgeAudit, ...]
    probes: Mapping[str, JudgeProbes]
    checkpoints: Mapping[str, tuple[CheckpointAudit, ...]]
    bands: tuple[BandError, ...]
    proposals: tuple[Proposal, ...]
    wished_error: float
    raters: Raters
    disagreements: tuple[Disagreement, ...]
    stale: Mapping[str, int]
    answers: int
    reviewed: int
    notes: tuple[str, ...]


def audit(
    database: Database, run_ids: Sequence[str], folder: Path, query: AuditQuery | None = None
) -> Audit:
    """Audit these runs, pooled; InputError where they are not of one suite and rubric."""
    with database.read() as connection:
        return audit_of(connection, gather(connection, run_ids, folder), query or AuditQuery())


def audit_of(connection: Connection, gathered: Gathered, query: AuditQuery) -> Audit:
    """The same of what was gathered, in a transaction that is open already."""
    if not 0 <= query.epsilon < 1:
        raise InputError(f"--alt-test-epsilon {query.epsilon:g}: expected 0 to under 1")
    score = query.score or default_score(gathered)
    if score == "neg_rmse" and None in gathered.credits.values():
        raise InputError(
            "--alt-test-score neg_rmse needs a scale with credits; take accuracy for this one"
        )
    if not query.names:
        gathered = gathered.with_people(pseudonyms(connection))
    run_ids = [run.id for run in gathered.runs]
    judges = tuple(gathered.judges) if query.about_judges else ()
    pairs = {name: judged_by(name, gathered.answers) for name in judges}
    ticks = [one for run in run_ids for one in ticks_to_audit(connection, run)] if judges else []
    bands = Bands(gathered, _evidence(connection, run_ids)) if query.about_people else None
    speeds = Speeds(gathered.answers)
    seen = sum(count_grades_after_judge(connection, run) for run in run_ids)
    return Audit(
        suite=gathered.runs[0].suite.name,
        runs=tuple(run_ids),
        rubric=gathered.basis.rubric,
        judges=tuple(
            audit_judge(gathered, name, pairs[name], speeds, epsilon=query.epsilon, score=score)
            for name in judges
        ),
        probes=probes_of_runs(connection, run_ids, gathered.basis.rubric),
        checkpoints=audit_checkpoints(gathered, ticks),
        bands=bands.errors() if bands else (),
        proposals=bands.proposals(query.wished_error) if bands else (),
        wished_error=query.wished_error,
        raters=audit_raters(gathered) if query.about_people else NO_RATERS,
        disagreements=_disagreements(gathered, pairs),
        stale=_stale(gathered),
        answers=len(gathered.answers),
        reviewed=sum(bool(answer.people) for answer in gathered.answers),
        notes=_notes(gathered, seen),
    )


def _evidence(connection: Connection, run_ids: Sequence[str]) -> dict[int, Mapping[str, Any]]:
    return {
        answer: found
        for run in run_ids
        for answer, found in evidence_of_reviewed(connection, run).items()
    }


def _disagreements(
    gathered: Gathered, pairs: Mapping[str, Sequence[Judged]]
) -> tuple[Disagreement, ...]:
    """Worst first: the verdicts furthest apart in credit. pairs: by judge."""
    credits_ = gathered.credits
    places = {case: place for place, case in enumerate(gathered.cases)}
    models = {name: place for place, name in enumerate(gathered.models)}
    found = []
    for name, judged in pairs.items():
        for one in judged:
            if one.human == one.judge:
                continue
            human, judge = credits_[one.human], credits_[one.judge]
            row = one.answer.row
            found.append(
                Disagreement(
                    row.case, row.endpoint, one.judge, one.human, name, row.repeat,
                    one.answer.run, row.id,
                    None if human is None or judge is None else abs(human - judge),
                )
            )  # fmt: skip

    def worst_first(one: Disagreement) -> tuple[float, int, int, int, str]:
        place, model = places[one.case], models[one.model]
        return (-(one.distance or 0.0), place, model, one.repeat, one.judge_grader)

    return tuple(sorted(found, key=worst_first))


def _stale(gathered: Gathered) -> dict[str, int]:
    found: Counter[str] = Counter(dict.fromkeys(map(str, Layer), 0))
    for answer in gathered.answers:
        found[Layer.AUTO] += answer.auto.stale
        found[Layer.JUDGE] += any(said.stale for said in answer.judges.values())
        found[Layer.HUMAN] += answer.human.stale
        found[Layer.ADJUDICATED] += answer.decided is not None and answer.decided.stale
    return {str(layer): found[layer] for layer in Layer}


def _notes(gathered: Gathered, after_judge: int) -> tuple[str, ...]:
    notes = [] if gathered.basis.note is None else [gathered.basis.note]
    if not gathered.judges:
        notes.append("no judge has graded these runs; evalbot judge RUN does")
    if not any(answer.people for answer in gathered.answers):
        notes.append(
            "nobody has graded these runs: there is nothing to measure a judge by; "
            "evalbot assign RUN draws a review"
        )
    if after_judge:
        notes.append(
            f"given after the judge's had been shown: {count(after_judge, 'grade')} of people; "
            "agreement with the judge may be higher for it"
        )
    return tuple(notes)
