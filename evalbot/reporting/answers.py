"""Answers with their question and grades, for reading."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.domain.cases import Case
from evalbot.domain.rubrics import ScorerName
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run
from evalbot.domain.unscored import UNSCORED_REASONS
from evalbot.errors import InputError, NotFoundError
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.problems import nearest, one_of, shown
from evalbot.running.self_check import SELF_CHECK
from evalbot.scoring.chrf import chrf
from evalbot.store import runs
from evalbot.store.answers import read_answers
from evalbot.store.database import Database
from evalbot.store.grades import read_grades


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers; verdicts: of any layer, or reasons for having none."""

    models: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One answer as a reader wants it. others: grades of the other layers, oldest first."""

    case: Case
    question: str
    recorded: RecordedAnswer
    verdict: str | None
    unscored_reason: str | None
    ratio: float | None
    chrf: float | None
    flags: tuple[str, ...]
    others: tuple[NewGrade, ...]


def shown_answers(database: Database, run_id: str, wanted: AnswerFilter) -> Iterator[ShownAnswer]:
    """The counting answers of a run that fit, case by case; chrF is a second opinion on a ratio.

    Raises NotFoundError for a model or case that the run does not have.
    """
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        _refuse_unknown(run, wanted)
        grades: dict[int, list[NewGrade]] = defaultdict(list)
        for stored in read_grades(connection, run.id):
            grades[stored.answer_id].append(stored.grade)
        cases = {case.key: case for case in run.suite.cases}
        order = {key: position for position, key in enumerate(cases)}
        found = sorted(
            read_answers(
                connection,
                run.id,
                endpoints=[name.removesuffix(CHECK_SUFFIX) for name in wanted.models],
                cases=wanted.cases,
                statuses=[AnswerStatus(status) for status in wanted.statuses],
            ),
            key=lambda item: order[item[1].place.case],
        )
        if wanted.models:
            found = [one for one in found if _model_of(one[1].place) in wanted.models]
    shown_count = 0
    for answer_id, recorded in found:
        answer = _shown(run, cases[recorded.place.case], recorded, grades[answer_id])
        said = {
            answer.verdict,
            answer.unscored_reason,
            *(one.verdict or one.unscored_reason for one in answer.others),
        }
        if wanted.verdicts and not said & set(wanted.verdicts):
            continue
        yield answer
        shown_count += 1
        if shown_count == wanted.limit:
            return


def _model_of(place: Place) -> str:
    """The model's name in tables."""
    return place.endpoint + (CHECK_SUFFIX if place.pass_ == 2 else "")


def _shown(run: Run, case: Case, recorded: RecordedAnswer, grades: list[NewGrade]) -> ShownAnswer:
    auto = next((grade for grade in reversed(grades) if grade.layer == "auto"), None)
    evidence = (auto.evidence if auto else None) or {}
    text = recorded.answer.text
    return ShownAnswer(
        case=case,
        question=run.suite.conversation(case)[-1].content,
        recorded=recorded,
        verdict=auto.verdict if auto else None,
        unscored_reason=auto.unscored_reason if auto else None,
        ratio=evidence.get("ratio"),
        chrf=chrf(text, case.references) if evidence.get("scorer") == ScorerName.FUZZY else None,
        flags=tuple(evidence.get("flags", ())),
        others=tuple(grade for grade in grades if grade.layer != "auto"),
    )


def _refuse_unknown(run: Run, wanted: AnswerFilter) -> None:
    models = [endpoint.name for endpoint in run.endpoints]
    if SELF_CHECK in run.settings:
        models += [model + CHECK_SUFFIX for model in models]
    for kind, names, known in (
        ("model", wanted.models, models),
        ("case", wanted.cases, list(run.questions)),
    ):
        for name in names:
            if name not in known:
                close = nearest(name, known)
                hint = f"; did you mean {close}?" if close else ""
                raise NotFoundError(f"run {run.id} has no {kind} {name!r}{hint}")
    _refuse_other("--status", wanted.statuses, list(AnswerStatus))
    _refuse_other("--verdict", wanted.verdicts, [*run.rubric.verdicts, *UNSCORED_REASONS])


def _refuse_other(option: str, words: Sequence[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise InputError(f"{option}: found {shown(word)}; expected {one_of(known, word)}")
