"""The lines of answers.jsonl and grades.jsonl: contract.md's fields and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from evalbot.domain.answers import Place
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run
from evalbot.store.answers import attempts_of, read_answers
from evalbot.store.columns import time_text
from evalbot.store.database import Connection
from evalbot.store.grades import PEOPLE, pseudonyms, read_grades
from evalbot.transfer.masking import Mask

DETAIL = "detail"

Line: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GradeRecord:
    """A grade with the attempt it was said about."""

    place: Place
    attempt: int
    grade: NewGrade


def answer_records(connection: Connection, run: Run) -> Iterator[RecordedAnswer]:
    """All attempts of a run by endpoint, case, repeat, pass and attempt, in the run's order."""
    # Not in the database's order: each kind of database sorts texts in its own way.
    position = {case: at for at, case in enumerate(run.questions)}
    for endpoint in run.endpoints:
        answers = read_answers(connection, run.id, endpoints=(endpoint.name,), all_attempts=True)
        yield from sorted(
            (recorded for _, recorded in answers),
            key=lambda one: (position[one.place.case], *one.place[2:], one.attempt),
        )


def grade_records(connection: Connection, run: Run, *, names: bool) -> list[GradeRecord]:
    """All grades of a run in the order they were given; people under pseudonyms or names."""
    attempts = attempts_of(connection, run.id)
    called = {} if names else pseudonyms(connection)
    records = []
    for stored in read_grades(connection, run.id, all_attempts=True):
        grade = stored.grade
        if grade.layer in PEOPLE:
            grade = grade._replace(grader=called.get(grade.grader, grade.grader))
        records.append(GradeRecord(stored.place, attempts[stored.answer_id], grade))
    return records


def grade_line(suite: str, record: GradeRecord, mask: Mask, *, stale: bool) -> Line:
    """A grade as its JSON object; what a judge's server said of itself is masked."""
    grade, place = record.grade, record.place
    return {
        "suite": suite,
        "case": place.case,
        "case_fingerprint": grade.case_fingerprint,
        "model": place.endpoint,
        "repeat": place.repeat,
        "pass": place.pass_,
        "attempt": record.attempt,
        "layer": grade.layer,
        "grader": grade.grader,
        "grader_family": grade.grader_family,
        "verdict": grade.verdict,
        "unscored_reason": grade.unscored_reason,
        "stale": stale,
        "evidence": masked_evidence(grade.evidence, mask),
        "checkpoints": grade.checkpoints,
        "rationale": grade.rationale,
        "comment": grade.comment,
        "vote": grade.vote,
        "entropy": grade.entropy,
        "campaign": grade.campaign,
        "seen": grade.seen,
        "params": masked_params(grade.params, mask),
        "cost_usd": grade.cost_usd,
        "prompt_fingerprint": grade.prompt_fingerprint,
        "rubric": grade.rubric,
        "rubric_version": grade.rubric_version,
        "at": time_text(grade.at),
    }


def masked_evidence(evidence: Mapping[str, Any] | None, mask: Mask) -> Mapping[str, Any] | None:
    """`detail` may be a server's words; all else is ours, or what a model wrote."""
    if evidence is None or DETAIL not in evidence:
        return evidence
    return {**evidence, DETAIL: mask.value(evidence[DETAIL])}


def masked_params(params: Mapping[str, Any] | None, mask: Mask) -> dict[str, Any] | None:
    """What was sent to a judge; of a path to its model only the file's name."""
    if params is None:
        return None
    masked: dict[str, Any] = mask.value(dict(params))
    if "model" in params:
        masked["model"] = mask.model(params["model"])
    return masked


def answer_line(suite: str, recorded: RecordedAnswer, mask: Mask) -> Line:
    """An answer as its JSON object; the server's words are masked."""
    answer, place, timing = recorded.answer, recorded.place, recorded.answer.timing
    return {
        "suite": suite,
        "case": place.case,
        "case_fingerprint": recorded.question_fingerprint,
        "model": place.endpoint,
        "repeat": place.repeat,
        "pass": place.pass_,
        "attempt": recorded.attempt,
        "status": str(answer.status),
        "text": answer.text,
        "reasoning": answer.reasoning,
        "raw": answer.raw,
        "finish_reason": answer.finish_reason,
        "error_detail": mask.optional(answer.error_detail),
        "prompt_tokens": answer.usage.prompt_tokens,
        "cached_tokens": answer.usage.cached_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "ttfr_ms": timing.ttfr_ms,
        "ttft_ms": timing.ttft_ms,
        "ttfot_ms": timing.ttfot_ms,
        "total_ms": timing.total_ms,
        "prefill_tps": timing.prefill_tps,
        "decode_tps": timing.decode_tps,
        "timing_source": timing.source,
        "started_at": time_text(answer.started_at),
    }
