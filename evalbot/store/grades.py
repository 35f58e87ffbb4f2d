"""Grades in the record: only ever added; who graded, by which rule, and when."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from evalbot.domain.answers import Place
from evalbot.domain.runs import NewGrade, StoredGrade
from evalbot.store.answers import STREAMED, last_attempts
from evalbot.store.schema import answer_table, grade_table, grader_table
from evalbot.store.texts import insert_if_new

AUTO = "auto"
PEOPLE = frozenset({"human", "adjudicated"})


class GradeWriter:
    """Adds grades within one transaction; knows the graders it has met."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._graders: dict[tuple[str, str], int] = {}

    def add(self, grades: Sequence[tuple[int, NewGrade]]) -> None:
        """Write grades, each with its answer's row id; one whose token is there is left out."""
        if not grades:
            return
        is_plain = all(grade.layer == AUTO for _, grade in grades)
        rows = [
            self._row(answer_id, grade) if is_plain else self._wide_row(answer_id, grade)
            for answer_id, grade in grades
        ]
        if all(row["token"] is None for row in rows):
            self._connection.execute(insert(grade_table), rows)
            return
        self._connection.execute(insert_if_new(self._connection, grade_table, "token"), rows)

    def _row(self, answer_id: int, grade: NewGrade) -> dict[str, Any]:
        return {
            "answer_id": answer_id,
            "layer": grade.layer,
            "grader_id": self._grader(grade),
            "verdict": grade.verdict,
            "unscored_reason": grade.unscored_reason,
            "rubric": grade.rubric,
            "rubric_version": grade.rubric_version,
            "rubric_fingerprint": grade.rubric_fingerprint,
            "case_fingerprint": grade.case_fingerprint,
            "evidence": None if grade.evidence is None else dict(grade.evidence),
            "rationale": grade.rationale,
            "token": grade.token,
            "at": grade.at,
        }

    def _wide_row(self, answer_id: int, grade: NewGrade) -> dict[str, Any]:
        """With what only judges and people say: left out where it would be hundreds of nulls."""
        return {
            **self._row(answer_id, grade),
            "checkpoints": None if grade.checkpoints is None else list(grade.checkpoints),
            "comment": grade.comment,
            "vote": grade.vote,
            "entropy": grade.entropy,
            "campaign": grade.campaign,
            "seen": None if grade.seen is None else list(grade.seen),
            "params": None if grade.params is None else dict(grade.params),
            "cost_usd": grade.cost_usd,
            "prompt_fingerprint": grade.prompt_fingerprint,
        }

    def _grader(self, grade: NewGrade) -> int:
        key = (grade.layer, grade.grader)
        if key not in self._graders:
            self._graders[key] = put_grader(
                self._connection, grade.layer, grade.grader, grade.grader_family
            )
        return self._graders[key]


def put_grader(
    connection: Connection, layer: str, name: str, family: str | None, pseudonym: str | None = None
) -> int:
    """The row id of a grader, who is written down when met first."""
    found = connection.execute(
        select(grader_table.c.id, grader_table.c.family).where(
            grader_table.c.layer == layer, grader_table.c.name == name
        )
    ).one_or_none()
    if found is not None:
        if family is not None and found.family is None:
            connection.execute(
                update(grader_table).where(grader_table.c.id == found.id).values(family=family)
            )
        return int(found.id)
    if pseudonym is None and layer in PEOPLE:
        pseudonym = _pseudonym_of(connection, name) or f"reviewer-{secrets.token_hex(4)}"
    # Somebody may grade for the first time in two places at once.
    connection.execute(
        insert_if_new(connection, grader_table).values(
            layer=layer, name=name, family=family, pseudonym=pseudonym
        )
    )
    return connection.execute(
        select(grader_table.c.id).where(grader_table.c.layer == layer, grader_table.c.name == name)
    ).scalar_one()


def _pseudonym_of(connection: Connection, name: str) -> str | None:
    """One person has one pseudonym, whatever they grade as."""
    return connection.execute(
        select(grader_table.c.pseudonym)
        .where(grader_table.c.name == name, grader_table.c.pseudonym.is_not(None))
        .limit(1)
    ).scalar_one_or_none()


def pseudonyms(connection: Connection) -> dict[str, str]:
    """What each person is called in exports."""
    rows = connection.execute(
        select(grader_table.c.name, grader_table.c.pseudonym).where(
            grader_table.c.pseudonym.is_not(None)
        )
    )
    return {name: pseudonym for name, pseudonym in rows if pseudonym is not None}


def read_grades(
    connection: Connection, run: str, layers: Sequence[str] = (), *, all_attempts: bool = False
) -> Iterator[StoredGrade]:
    """Grades of a run in the order they were given; by default of the counting answers only."""
    query = _whole_grades()
    query = query.where(answer_table.c.run == run) if all_attempts else last_attempts(query, run)
    if layers:
        query = query.where(grade_table.c.layer.in_(list(layers)))
    result = connection.execute(query.order_by(grade_table.c.id), execution_options=STREAMED)
    return (_stored(row) for row in result)


def grades_of_answer(connection: Connection, answer_id: int) -> list[StoredGrade]:
    """Every grade of one answer, in the order they were given."""
    query = _whole_grades().where(grade_table.c.answer_id == answer_id)
    return [_stored(row) for row in connection.execute(query.order_by(grade_table.c.id))]


def read_grades_of(connection: Connection, answers: Sequence[int]) -> dict[int, list[StoredGrade]]:
    """By answer's row id, all grades of a few answers, oldest first."""
    query = _whole_grades().where(grade_table.c.answer_id.in_(list(answers)))
    found: dict[int, list[StoredGrade]] = {answer: [] for answer in answers}
    for row in connection.execute(query.order_by(grade_table.c.id)):
        found[row.answer_id].append(_stored(row))
    return found


def _whole_grades() -> Select[Any]:
    return (
        select(
            grade_table,
            grader_table.c.name,
            grader_table.c.family,
            answer_table.c.case_key,
            answer_table.c.endpoint,
            answer_table.c.repeat,
            answer_table.c.pass_number,
        )
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .join(grader_table, grader_table.c.id == grade_table.c.grader_id)
    )


def _stored(row: Row[Any]) -> StoredGrade:
    return StoredGrade(
        id=row.id,
        answer_id=row.answer_id,
        place=Place(row.case_key, row.endpoint, row.repeat, row.pass_number),
        grade=NewGrade(
            layer=row.layer,
            grader=row.name,
            grader_family=row.family,
            verdict=row.verdict,
            unscored_reason=row.unscored_reason,
            rubric=row.rubric,
            rubric_version=row.rubric_version,
            rubric_fingerprint=row.rubric_fingerprint,
            case_fingerprint=row.case_fingerprint,
            evidence=row.evidence,
            rationale=row.rationale,
            token=row.token,
            at=row.at,
            checkpoints=row.checkpoints,
            comment=row.comment,
            vote=row.vote,
            entropy=row.entropy,
            campaign=row.campaign,
            seen=row.seen,
            params=row.params,
            cost_usd=row.cost_usd,
            prompt_fingerprint=row.prompt_fingerprint,
        ),
    )


def count_grades(connection: Connection, run: str) -> int:
    """How many grades a run has, of all layers and attempts."""
    query = select(func.count()).select_from(grade_table)
    query = query.join(answer_table, answer_table.c.id == grade_table.c.answer_id).where(
        answer_table.c.run == run
    )
    return connection.execute(query).scalar_one()


def judge_entropies(connection: Connection, run: str) -> dict[int, float]:
    """By answer's row id, the entropy of its newest judge majority, in bits."""
    query = (
        select(grade_table.c.answer_id, grade_table.c.entropy)
        .join(answer_table, answer_table.c.id == grade_table.c.answer_id)
        .where(grade_table.c.layer == "judge", grade_table.c.entropy.is_not(None))
        .order_by(grade_table.c.id)
    )
    rows = connection.execute(last_attempts(query, run))
    return {answer: entropy for answer, entropy in rows if entropy is not None}


class AutoVerdict(NamedTuple):
    """What an automatic grade says and rests on."""

    verdict: str | None
    unscored_reason: str | None
    rubric_fingerprint: str
    case_fingerprint: str
    evidence: Any


def newest_auto_grades(
    connection: Connection, first_answer: int, last_answer: int
) -> dict[int, AutoVerdict]:
    """By answer's row id, the newest automatic grade of a stretch of answers."""
    rows = connection.execute(
        select(
            grade_table.c.answer_id,
            grade_table.c.verdict,
            grade_table.c.unscored_reason,
            grade_table.c.rubric_fingerprint,
            grade_table.c.case_fingerprint,
            grade_table.c.evidence,
        )
        .where(grade_table.c.layer == "auto")
        .where(grade_table.c.answer_id.between(first_answer, last_answer))
        .order_by(grade_table.c.id)
    )
    return {row[0]: AutoVerdict(*row[1:]) for row in rows}
