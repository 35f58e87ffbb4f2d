"""Votes as jobs of a lane, and as what is written of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalbot.domain.cases import grading_text
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade
from evalbot.domain.settings import JudgeSettings
from evalbot.grading.basis import FROM_RECORD
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Material, Scope, ShelvedSheet, Task
from evalbot.judging.grades import GradeForm, reply_of
from evalbot.judging.lane import Ask, PricedProvider
from evalbot.judging.session import LanePlan, Plan, Session
from evalbot.judging.totals import Totals
from evalbot.running.progress import Progress
from evalbot.store import runs
from evalbot.store.batches import identities_in_batches
from evalbot.store.database import Connection, Database
from evalbot.store.grades import GradeWriter
from evalbot.store.judging import judges_said
from evalbot.store.texts import put_texts


class Judged(NamedTuple):
    """What is written when a vote is in: its grade, and the majority's where it was the last."""

    answer_id: int
    case: str
    shelved: ShelvedSheet
    grades: Sequence[NewGrade]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class VoteForm:
    """What the votes of one judge have in common. seed: of the votes, if several."""

    form: GradeForm
    judge: JudgeSettings
    seed: int | None

    def sampling(self, number: int) -> dict[str, Any]:
        """What is sent with a vote; a seed of its own where there are several."""
        seed = {} if self.seed is None else {"seed": self.seed + number}
        return {**self.judge.sampling, **seed}


@dataclass(frozen=True, slots=True)
class VoteJob:
    """One reply to be asked for."""

    task: Task
    by: VoteForm

    async def run(self, ask: Ask) -> Judged:
        """The vote as it is written, with the judge's word where it was the last one."""
        task, form, judge = self.task, self.by.form, self.by.judge
        answer = task.answer.text
        prompt = task.shelved.sheet.prompt(answer)
        said = await ask(prompt, answer, self.by.sampling(task.vote.number))
        grades = [form.vote(judge, task.vote, task.shelved, task.earlier, said)]
        is_complete = task.ballot.put(task.vote.number, reply_of(said))
        if is_complete:
            grades.append(form.majority(judge, task.vote, task.ballot))
        return Judged(task.answer.id, task.vote.case, task.shelved, grades, is_complete)


def _jobs(docket: Docket, database: Database, by: VoteForm) -> Iterator[list[VoteJob]]:
    for page in docket.pages(database):
        yield [VoteJob(task, by) for task in page.tasks]


@dataclass(frozen=True, slots=True)
class JudgeWriter:
    """Writes judgements, and the panel's majorities where these have come together.

    judges: those who must have spoken before a panel has. taken: by judge, what is in batches.
    """

    material: Material
    judges: Sequence[str]
    taken: Mapping[str, set[str]]

    def prepare(self, connection: Connection) -> None:
        """Store the texts that all grades will name, and see anew what is in batches."""
        for judge, identities in identities_in_batches(connection, self.material.run.id).items():
            self.taken.get(judge, set()).update(identities)
        run, basis = self.material.run, self.material.basis
        suite, rubric = basis.suite, basis.rubric
        if not run.settings.get(FROM_RECORD):
            runs.set_grading(connection, run.id, suite, rubric)
        put_texts(connection, "rubric_rule", [rubric.text_for(Layer.JUDGE)])
        put_texts(connection, "case_rule", [grading_text(suite, case) for case in suite.cases])

    def save(self, connection: Connection, batch: Sequence[Judged]) -> None:
        """Write what has come, within one transaction."""
        sheets = {one.shelved.fingerprint: one.shelved.sheet.text for one in batch}
        put_texts(connection, "prompt", sheets.values())
        writer = GradeWriter(connection)
        writer.add([(one.answer_id, grade) for one in batch for grade in one.grades])
        complete = {one.answer_id: one.case for one in batch if one.is_complete}
        if not complete:
            return
        said = judges_said(connection, complete)
        form = GradeForm(self.material)
        panels = [
            (answer, form.panel(case, self.judges, said.get(answer, {})))
            for answer, case in complete.items()
        ]
        writer.add([(answer, grade) for answer, grade in panels if grade is not None])


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges of a session and how often each is asked; calls: how many each has to make.

    judged: verdicts that are on record already. taken: by judge, what is in batches.
    """

    judges: tuple[JudgeSettings, ...]
    votes: Mapping[str, int]
    scope: Scope
    dockets: Mapping[str, Docket]
    calls: Mapping[str, int]
    judged: Mapping[str, int]
    taken: Mapping[str, set[str]]

    @property
    def busy(self) -> tuple[JudgeSettings, ...]:
        """The judges that have something to do."""
        return tuple(judge for judge in self.judges if self.calls[judge.name])


def judging_session(
    database: Database,
    material: Material,
    bench: Bench,
    providers: Mapping[str, PricedProvider],
    budget: Budget,
) -> Session[Judged]:
    """Everything on the bench's dockets, judged; providers: of the busy judges."""
    form = GradeForm(material)
    plans: list[Plan[Judged]] = []
    for judge in bench.busy:
        seed = bench.scope.seed if bench.votes[judge.name] > 1 else None
        plans.append(
            LanePlan(
                judge,
                providers[judge.name],
                _jobs(bench.dockets[judge.name], database, VoteForm(form, judge, seed)),
                bench.calls[judge.name],
                Totals(judge.name, before=bench.judged[judge.name]),
            )
        )
    return session_of(database, material, bench, plans, budget)


def session_of(
    database: Database,
    material: Material,
    bench: Bench,
    plans: Sequence[Plan[Judged]],
    budget: Budget,
) -> Session[Judged]:
    """A session that writes judgements, however the plans bring them."""
    writer = JudgeWriter(material, [judge.name for judge in bench.judges], bench.taken)
    progress = Progress(f"judging run {material.run.id}", "judgements", of="judge")
    return Session(database, material.run.id, plans, writer.save, writer.prepare, progress, budget)
