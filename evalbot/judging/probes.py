"""Probes of a judge as jobs of its lane: which answers, what is changed, what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from random import Random
from typing import TypeAlias

from evalbot.domain.probes import Probe
from evalbot.domain.settings import JudgeSettings
from evalbot.fingerprint import fingerprint
from evalbot.judging.asking import Judgement
from evalbot.judging.docket import FirstVote, Material, ShelvedSheet
from evalbot.judging.grades import evidence_of, params_of
from evalbot.judging.identity import judge_fingerprint
from evalbot.judging.lane import Ask
from evalbot.judging.pairs import pair_prompt
from evalbot.judging.prompt import JudgePrompt, Presentation
from evalbot.judging.variations import ProbeKind, injected, lengthened, named
from evalbot.store.judging import AnswerToJudge


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What one judge is probed with. done: tokens of probes that are on record."""

    material: Material
    judge: JudgeSettings
    seed: int
    sample: int
    done: Collection[str]

    def jobs(self, kinds: Sequence[ProbeKind], graded: Sequence[FirstVote]) -> Iterator[AnyProbe]:
        """The probes of these kinds that are not on record.

        The same answers are drawn for every kind, and again for the same seed.
        """
        drawn = self._drawn(graded)
        made: Iterable[AnyProbe]
        for kind in kinds:
            if kind is ProbeKind.SWAP:
                made = self._pairs(graded)
            elif kind in (ProbeKind.REFERENCE, ProbeKind.TRAP):
                made = self._known(kind)
            else:
                made = (self._varied(kind, one) for one in drawn)
            yield from (job for job in made if job.token not in self.done)

    def _drawn(self, graded: Sequence[FirstVote]) -> list[FirstVote]:
        ordered = sorted(graded, key=lambda one: one.vote.identity)
        return Random(f"probe/{self.seed}").sample(ordered, min(self.sample, len(ordered)))

    def _varied(self, kind: ProbeKind, one: FirstVote) -> ProbeJob:
        text, place = one.answer.text, one.answer.place
        presentation = Presentation(reversed_scale=kind is ProbeKind.REVERSE)
        if kind is ProbeKind.LENGTHEN:
            text = lengthened(text)
        elif kind is ProbeKind.NAMES:
            text = named(text, one.vote.identity)
        elif kind is ProbeKind.INJECT:
            text = injected(text, self.material.basis.rubric.verdicts[0])
        shelved = self.material.sheet(place.case, presentation)
        return self._job(kind, place.case, one.verdict, one.vote.identity, text, shelved, one)

    def _known(self, kind: ProbeKind) -> Iterator[ProbeJob]:
        """The case's own right answers, and its known wrong ones."""
        verdicts = self.material.basis.rubric.verdicts
        right = kind is ProbeKind.REFERENCE
        found = [
            (case, text)
            for case in self.material.basis.suite.cases
            for text in (case.references if right else case.traps)[:1]
        ]
        drawn = Random(f"probe/{self.seed}").sample(found, min(self.sample, len(found)))
        for case, text in drawn:
            shelved = self.material.sheet(case.key, Presentation())
            verdict = verdicts[0] if right else verdicts[-1]
            yield self._job(kind, case.key, verdict, text, text, shelved, None)

    def _job(
        self,
        kind: ProbeKind,
        case: str,
        before: str,
        subject: str,
        text: str,
        shelved: ShelvedSheet,
        about: FirstVote | None,
    ) -> ProbeJob:
        return ProbeJob(
            plan=self,
            kind=kind,
            case=case,
            before=before,
            text=text,
            shelved=shelved,
            answer_id=None if about is None else about.answer.id,
            token=self._token(kind, f"{case}/{subject}", shelved.fingerprint, text),
        )

    def _pairs(self, graded: Sequence[FirstVote]) -> Iterator[SwapJob]:
        """Answers of two models to the same question, in an order drawn by the seed."""
        by_question: dict[tuple[str, int, int], list[FirstVote]] = defaultdict(list)
        for one in graded:
            place = one.answer.place
            by_question[place.case, place.repeat, place.pass_].append(one)
        pairs = [
            pair
            for key in sorted(by_question)
            for pair in combinations(
                sorted(by_question[key], key=lambda one: one.answer.place.endpoint), 2
            )
            if pair[0].answer.text != pair[1].answer.text
        ]
        random = Random(f"probe/{self.seed}")
        for one, other in random.sample(pairs, min(self.sample, len(pairs))):
            first, second = (one, other) if random.random() < 0.5 else (other, one)
            subject = f"{first.vote.identity}/{second.vote.identity}"
            yield SwapJob(
                plan=self,
                case=first.answer.place.case,
                first=first.answer,
                second=second.answer,
                token=self._token(ProbeKind.SWAP, subject, "", ""),
            )

    def _token(self, kind: ProbeKind, subject: str, sheet: str, text: str) -> str:
        material = self.material
        parts = [material.run.id, judge_fingerprint(self.judge), material.rubric_fingerprint]
        return fingerprint(["probe", *parts, str(kind), subject, sheet, text])

    def probe(
        self,
        job: AnyProbe,
        kind: ProbeKind,
        before: str,
        after: Judgement,
        presentation: Presentation,
        others: Sequence[Judgement] = (),
    ) -> Probe:
        """What is written of a probe; others: earlier calls that it took."""
        costs = [one.cost_usd for one in (*others, after)]
        return Probe(
            judge=self.judge.name,
            kind=str(kind),
            case=job.case,
            answer_id=job.answer_id,
            other_id=job.other_id,
            before=before,
            after=after.reading.verdict,
            unscored_reason=after.reading.unscored_reason,
            rubric_fingerprint=self.material.rubric_fingerprint,
            params=params_of(self.judge, after, presentation),
            evidence={**evidence_of(after), "reason": after.reading.reason},
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
            prompt_fingerprint=job.sheet,
            token=job.token,
            at=datetime.now(UTC),
        )


@dataclass(frozen=True, slots=True)
class ProbeJob:
    """One answer graded again, changed in something that should not matter."""

    plan: ProbePlan
    kind: ProbeKind
    case: str
    before: str
    text: str
    shelved: ShelvedSheet
    answer_id: int | None
    token: str
    other_id: int | None = None

    @property
    def sheet(self) -> str:
        """The fingerprint of what was asked."""
        return self.shelved.fingerprint

    async def run(self, ask: Ask) -> Probe:
        """The probe as it is written."""
        prompt = self.shelved.sheet.prompt(self.text)
        after = await ask(prompt, self.text, self.plan.judge.sampling)
        return self.plan.probe(self, self.kind, self.before, after, self.shelved.presentation)


@dataclass(frozen=True, slots=True)
class SwapJob:
    """Two answers compared in both orders; before: the choice in the first, after: in the other."""

    plan: ProbePlan
    case: str
    first: AnswerToJudge
    second: AnswerToJudge
    token: str
    sheet: str | None = None

    @property
    def answer_id(self) -> int:
        """The answer that stands first before."""
        return self.first.id

    @property
    def other_id(self) -> int:
        """The answer that stands first afterwards."""
        return self.second.id

    async def run(self, ask: Ask) -> Probe:
        """The probe as it is written; where the first order brings no verdict, so does it."""
        sampling = self.plan.judge.sampling
        one = await ask(self._prompt(self.first, self.second), "", sampling)
        if one.reading.verdict is None:
            return self.plan.probe(self, ProbeKind.SWAP, "", one, Presentation())
        other = await ask(self._prompt(self.second, self.first), "", sampling)
        before = one.reading.verdict
        return self.plan.probe(self, ProbeKind.SWAP, before, other, Presentation(), [one])

    def _prompt(self, first: AnswerToJudge, second: AnswerToJudge) -> JudgePrompt:
        basis = self.plan.material.basis
        case = self.plan.material.case(self.case)
        return pair_prompt(basis.rubric, basis.suite, case, first.text, second.text)


AnyProbe: TypeAlias = ProbeJob | SwapJob
