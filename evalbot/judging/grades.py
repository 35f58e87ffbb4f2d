"""Judges' replies as grades, ready to be recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade
from evalbot.domain.settings import JudgeSettings
from evalbot.grading.effective import PANEL, VOTE_MARK
from evalbot.judging.asking import Judgement
from evalbot.judging.ballots import TIE, Ballot, Reply
from evalbot.judging.docket import Material, ShelvedSheet
from evalbot.judging.identity import Vote, judge_fingerprint, token_of, token_of_error
from evalbot.judging.prompt import Presentation
from evalbot.stats.votes import entropy, majority
from evalbot.store.judging import JudgeSaid

REFUSED_REQUEST = "refused_request"
"""Evidence: the provider does not take this request; asking again would change nothing."""

LONGEST_RAW = 20_000
"""Characters of a reply without a verdict that are kept."""


def reply_of(judgement: Judgement) -> Reply:
    """The vote that a judgement is."""
    reading = judgement.reading
    ticked = [line._asdict() for line in reading.checkpoints]
    return Reply(reading.verdict, reading.unscored_reason, reading.reason, ticked, reading.flags)


def evidence_of(judgement: Judgement) -> dict[str, Any]:
    """What came back, besides what it says; the raw reply where it brought no verdict."""
    reading, usage = judgement.reading, judgement.usage
    evidence: dict[str, Any] = {
        "flags": list(reading.flags),
        "replies": judgement.replies,
        "latency_s": judgement.latency_s,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
    }
    if not judgement.replies and not judgement.provider_failed:
        evidence[REFUSED_REQUEST] = True
    if reading.detail is not None:
        evidence["detail"] = reading.detail
    if reading.verdict is None and judgement.raw:
        evidence["raw"] = judgement.raw[:LONGEST_RAW]
    return evidence


def params_of(
    judge: JudgeSettings,
    judgement: Judgement,
    presentation: Presentation,
    fingerprint: str | None = None,
) -> dict[str, Any]:
    """What was really sent to a judge, and in which order scale and references stood.

    fingerprint: of the judge's settings then, where they may be others now.
    """
    return {
        "judge": fingerprint or judge_fingerprint(judge),
        "model": judge.model,
        **judgement.params,
        "dropped": list(judgement.dropped),
        "order": {"seed": presentation.seed, "reversed_scale": presentation.reversed_scale},
    }


@dataclass(frozen=True, slots=True)
class GradeForm:
    """What all grades of a run's judges have in common."""

    material: Material

    def vote(
        self, judge: JudgeSettings, vote: Vote, shelved: ShelvedSheet, earlier: int, said: Judgement
    ) -> NewGrade:
        """One reply, or a call that brought none, which is made again another time."""
        reply = reply_of(said)
        grade = self._grade(
            grader=f"{judge.name}{VOTE_MARK}{vote.number}",
            family=judge.family,
            case=vote.case,
            rubric=vote.rubric,
            verdict=reply.verdict,
            reason=reply.unscored_reason,
        )
        token = token_of(vote.identity, earlier)
        if said.provider_failed:
            token = token_of_error(vote.identity, f"{grade.at.timestamp():.6f}")
        return grade._replace(
            evidence=evidence_of(said),
            rationale=reply.rationale,
            checkpoints=reply.checkpoints,
            token=token,
            vote=vote.number,
            params=params_of(judge, said, shelved.presentation, vote.judge),
            cost_usd=said.cost_usd,
            prompt_fingerprint=vote.sheet,
        )

    def majority(self, judge: JudgeSettings, vote: Vote, ballot: Ballot) -> NewGrade:
        """What a judge's votes come to; vote: one of them."""
        outcome = ballot.outcome()
        return self._grade(
            grader=judge.name,
            family=judge.family,
            case=vote.case,
            rubric=vote.rubric,
            verdict=outcome.verdict,
            reason=outcome.unscored_reason,
        )._replace(
            evidence={"flags": list(outcome.flags), "votes": outcome.counts},
            rationale=outcome.rationale,
            checkpoints=outcome.checkpoints,
            entropy=outcome.entropy,
            params={"judge": vote.judge, "model": judge.model, "votes": ballot.size},
        )

    def panel(
        self, case: str, judges: Sequence[str], said: Mapping[str, JudgeSaid]
    ) -> NewGrade | None:
        """What the judges of an answer come to together, where it is not on record already.

        judges: those who must have spoken. None also where fewer than two have.
        """
        rubric = self.material.rubric_fingerprint
        fresh = {
            name: one
            for name, one in sorted(said.items())
            if one.rubric_fingerprint == rubric and one.case_fingerprint == case
        }
        before = fresh.pop(PANEL, None)
        if len(fresh) < 2 or not set(judges) <= set(fresh):
            return None
        verdicts = [one.verdict for one in fresh.values() if one.verdict is not None]
        verdict = majority(verdicts)
        reason = None
        if verdict is None:
            reason = TIE if verdicts else next(iter(fresh.values())).unscored_reason
        newest = max(one.id for one in fresh.values())
        if before is not None and before.id > newest:
            return None
        votes = {name: one.verdict or one.unscored_reason for name, one in fresh.items()}
        return self._grade(PANEL, None, case, rubric, verdict, reason)._replace(
            evidence={"flags": [], "judges": votes}, entropy=entropy(verdicts)
        )

    def _grade(
        self,
        grader: str,
        family: str | None,
        case: str,
        rubric: str,
        verdict: str | None,
        reason: str | None,
    ) -> NewGrade:
        named = self.material.basis.rubric
        return NewGrade(
            layer=str(Layer.JUDGE),
            grader=grader,
            grader_family=family,
            verdict=verdict,
            unscored_reason=reason,
            rubric=named.name,
            rubric_version=named.version,
            rubric_fingerprint=rubric,
            case_fingerprint=case,
            at=datetime.now(UTC),
        )
