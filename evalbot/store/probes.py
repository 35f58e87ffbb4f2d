"""Probes of judges in the record: only ever added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select, union

from evalbot.domain.answers import Place
from evalbot.domain.probes import Probe
from evalbot.store.grades import put_grader
from evalbot.store.judge_schema import probe_table
from evalbot.store.judging import JUDGE
from evalbot.store.schema import answer_table, grader_table
from evalbot.store.texts import insert_if_new


class ProbedAnswer(NamedTuple):
    """Where an answer stands that a probe was about."""

    place: Place
    attempt: int


class StoredProbe(NamedTuple):
    """A probe with its answer, where it was about one, and the second one of a pair."""

    probe: Probe
    answer: ProbedAnswer | None
    other: ProbedAnswer | None


def add_probes(connection: Connection, run: str, probes: Sequence[Probe]) -> None:
    """Write probes; one whose token is there is left out."""
    graders = {name: put_grader(connection, JUDGE, name, None) for name in _judges(probes)}
    rows = [
        {
            "run": run,
            "grader_id": graders[probe.judge],
            "kind": probe.kind,
            "case_key": probe.case,
            "answer_id": probe.answer_id,
            "other_id": probe.other_id,
            "before": probe.before,
            "after": probe.after,
            "unscored_reason": probe.unscored_reason,
            "rubric_fingerprint": probe.rubric_fingerprint,
            "params": dict(probe.params),
            "evidence": None if probe.evidence is None else dict(probe.evidence),
            "cost_usd": probe.cost_usd,
            "prompt_fingerprint": probe.prompt_fingerprint,
            "token": probe.token,
            "at": probe.at,
        }
        for probe in probes
    ]
    if rows:
        connection.execute(insert_if_new(connection, probe_table, "token"), rows)


def read_probes(connection: Connection, run: str) -> list[StoredProbe]:
    """All probes made on a run, in the order they were made."""
    query = select(probe_table, grader_table.c.name).join(
        grader_table, grader_table.c.id == probe_table.c.grader_id
    )
    rows = connection.execute(query.where(probe_table.c.run == run).order_by(probe_table.c.id))
    probes = list(rows)
    answers = _answers(connection, run) if probes else {}
    return [
        StoredProbe(
            Probe(
                judge=row.name,
                kind=row.kind,
                case=row.case_key,
                answer_id=row.answer_id,
                other_id=row.other_id,
                before=row.before,
                after=row.after,
                unscored_reason=row.unscored_reason,
                rubric_fingerprint=row.rubric_fingerprint,
                params=row.params,
                evidence=row.evidence,
                cost_usd=row.cost_usd,
                prompt_fingerprint=row.prompt_fingerprint,
                token=row.token,
                at=row.at,
            ),
            answers.get(row.answer_id),
            answers.get(row.other_id),
        )
        for row in probes
    ]


def _answers(connection: Connection, run: str) -> dict[int | None, ProbedAnswer]:
    """By row id, all answers of a run that a probe was about."""
    probed = union(
        select(probe_table.c.answer_id).where(probe_table.c.run == run),
        select(probe_table.c.other_id).where(probe_table.c.run == run),
    )
    rows = connection.execute(
        select(
            answer_table.c.id,
            answer_table.c.case_key,
            answer_table.c.endpoint,
            answer_table.c.repeat,
            answer_table.c.pass_number,
            answer_table.c.attempt,
        ).where(answer_table.c.id.in_(probed))
    )
    return {
        id_: ProbedAnswer(Place(case, endpoint, repeat, pass_), attempt)
        for id_, case, endpoint, repeat, pass_, attempt in rows
    }


def _judges(probes: Sequence[Probe]) -> list[str]:
    return list(dict.fromkeys(probe.judge for probe in probes))
