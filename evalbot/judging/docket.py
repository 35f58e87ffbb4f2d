"""What is left for one judge to judge, page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.domain.settings import JudgeSettings
from evalbot.fingerprint import fingerprint
from evalbot.grading.basis import Basis
from evalbot.judging.ballots import Ballot, Reply
from evalbot.judging.identity import Vote, identity_in, is_reply, judge_fingerprint
from evalbot.judging.prompt import JudgeSheet, Presentation, judge_sheet, presentation_of
from evalbot.running.estimate import most_tokens, rough_tokens
from evalbot.store.database import Database
from evalbot.store.judging import (
    AnswerToJudge,
    VoteSaid,
    answers_to_judge,
    judges_said,
    left_open,
    votes_said,
)


class Only(StrEnum):
    """Which answers are judged.

    needs_review: those that automatic scoring left open. unjudged: all that this judge has not
    replied to. all: also those whose replies brought no verdict. What has a verdict by the same
    judge, prompt, rubric and case is never asked again.
    """

    NEEDS_REVIEW = "needs_review"
    UNJUDGED = "unjudged"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be judged. limit: how many answers at most; seed: of the votes' orders."""

    only: Only = Only.UNJUDGED
    include_truncated: bool = False
    seed: int = 1
    limit: int | None = None

    @property
    def statuses(self) -> tuple[AnswerStatus, ...]:
        """Of answers that are judged; the others are unscored by their status."""
        truncated = (AnswerStatus.TRUNCATED,) if self.include_truncated else ()
        return (AnswerStatus.OK, *truncated)


class ShelvedSheet(NamedTuple):
    """A sheet with its name and how long it is: in tokens, roughly, and in bytes."""

    sheet: JudgeSheet
    fingerprint: str
    presentation: Presentation
    tokens: int
    bytes: int


class Task(NamedTuple):
    """One reply to be asked for. earlier: replies to the same that brought no verdict."""

    answer: AnswerToJudge
    vote: Vote
    earlier: int
    shelved: ShelvedSheet
    ballot: Ballot


@dataclass(slots=True)
class Material:
    """What all judges of a run go by today, and the sheets made of it."""

    run: Run
    basis: Basis
    rubric_fingerprint: str = field(init=False)
    cases: Mapping[str, str] = field(init=False)
    _by_key: Mapping[str, Case] = field(init=False)
    _sheets: dict[tuple[str, Presentation], ShelvedSheet] = field(default_factory=dict)

    def __post_init__(self) -> None:
        suite = self.basis.suite
        self.rubric_fingerprint = self.basis.rubric.fingerprint_for(Layer.JUDGE)
        self.cases = {case.key: suite.grading_fingerprint(case) for case in suite.cases}
        self._by_key = {case.key: case for case in suite.cases}

    def case(self, key: str) -> Case:
        """The case of this key, as it is graded by today."""
        return self._by_key[key]

    def sheet(self, case: str, presentation: Presentation) -> ShelvedSheet:
        """The sheet of a case in this presentation, made once."""
        found = self._sheets.get((case, presentation))
        if found is None:
            suite, rubric = self.basis.suite, self.basis.rubric
            sheet = judge_sheet(rubric, suite, self._by_key[case], presentation)
            text = sheet.rules + sheet.question
            found = ShelvedSheet(
                sheet, fingerprint(sheet.text), presentation, rough_tokens(text), most_tokens(text)
            )
            self._sheets[case, presentation] = found
        return found


@dataclass(frozen=True, slots=True)
class Said:
    """Replies by identity, oldest first; most: the highest number of a vote among them."""

    replies: Mapping[str, Sequence[VoteSaid]]
    most: int


def _said(votes: Iterable[VoteSaid]) -> Said:
    found: dict[str, list[VoteSaid]] = defaultdict(list)
    most = 0
    for one in votes:
        found[identity_in(one.token)].append(one)
        most = max(most, one.vote)
    return Said(found, most)


class Page(NamedTuple):
    """The tasks of some answers; judged: how many verdicts on them are on record already.

    unscored: how many replies there are that brought none.
    """

    tasks: list[Task]
    judged: int
    unscored: int


class FirstVote(NamedTuple):
    """An answer with the verdict of a judge's first vote on it."""

    answer: AnswerToJudge
    vote: Vote
    verdict: str


class Docket:
    """One judge's work on a run. votes: how many replies are asked for to each answer.

    taken: identities that a batch has, and that nobody else may ask.
    """

    def __init__(
        self,
        material: Material,
        judge: JudgeSettings,
        votes: int,
        scope: Scope,
        taken: Collection[str] = (),
    ) -> None:
        self._material = material
        self._judge = judge_fingerprint(judge)
        self._judge_name = judge.name
        self._votes = votes
        self._scope = scope
        self._taken = taken
        self._within_limit: set[int] = set()

    def pages(self, database: Database) -> Iterator[Page]:
        """The tasks, an answer's votes together; each page is read when it is asked for."""
        for answers, said in self._stretches(database):
            tasks: list[Task] = []
            judged = unscored = 0
            for answer in answers:
                ballot, _ = self._ballot(answer, said)
                verdicts = sum(one.verdict is not None for one in ballot.replies.values())
                judged += verdicts
                unscored += len(ballot.replies) - verdicts
                found = list(self._tasks_for(answer, ballot, said))
                if found and self._is_within_limit(answer):
                    tasks += found
            yield Page(tasks, judged, unscored)

    def _is_within_limit(self, answer: AnswerToJudge) -> bool:
        """Whether it is one of the first so many; the same ones however often one goes through."""
        limit = self._scope.limit
        if limit is None:
            return True
        if len(self._within_limit) < limit:
            self._within_limit.add(answer.id)
        return answer.id in self._within_limit

    def first_votes(self, database: Database) -> Iterator[FirstVote]:
        """The answers that the judge has given a verdict on, as it is asked today."""
        for answers, said in self._stretches(database):
            for answer in answers:
                ballot, _ = self._ballot(answer, said)
                first = ballot.replies.get(1)
                if first is not None and first.verdict is not None:
                    yield FirstVote(answer, self.vote(answer, 1)[0], first.verdict)

    def vote(self, answer: AnswerToJudge, number: int) -> tuple[Vote, ShelvedSheet]:
        """What would be asked as this vote on an answer."""
        material, place = self._material, answer.place
        shelved = material.sheet(place.case, presentation_of(number, self._scope.seed))
        vote = Vote(
            judge=self._judge,
            sheet=shelved.fingerprint,
            rubric=material.rubric_fingerprint,
            case=material.cases[place.case],
            run=material.run.id,
            place=place,
            attempt=answer.attempt,
            number=number,
        )
        return vote, shelved

    def unsettled(self, database: Database) -> Iterator[tuple[AnswerToJudge, Vote, Ballot]]:
        """Answers whose votes are all in, while the judge's grade is not of all of them."""
        for answers, said in self._stretches(database):
            with database.read() as connection:
                graded = judges_said(connection, [answer.id for answer in answers])
            for answer in answers:
                ballot, newest = self._ballot(answer, said, with_errors=True)
                own = graded.get(answer.id, {}).get(self._judge_name)
                if (
                    newest
                    and len(ballot.replies) == ballot.size
                    and (own is None or own.id < newest)
                ):
                    yield answer, self.vote(answer, 1)[0], ballot

    def _stretches(self, database: Database) -> Iterator[tuple[list[AnswerToJudge], Said]]:
        """Answers page by page, with what judges have said of them."""
        last = 0
        while True:
            with database.read() as connection:
                run = self._material.run.id
                answers = answers_to_judge(connection, run, self._scope.statuses, last)
                if not answers:
                    return
                first, last = answers[0].id, answers[-1].id
                said = _said(votes_said(connection, run, first, last))
                if self._scope.only is Only.NEEDS_REVIEW:
                    open_ = left_open(connection, first, last)
                    answers = [answer for answer in answers if answer.id in open_]
            yield answers, said

    def _ballot(
        self, answer: AnswerToJudge, said: Said, *, with_errors: bool = False
    ) -> tuple[Ballot, int]:
        """The votes on record, and the row of the newest.

        Votes beyond those wanted now are from when more were: a majority loses none.
        """
        ballot = Ballot(self._votes, self._material.basis.rubric.judge.min_votes)
        newest = 0
        for number in range(1, max(self._votes, said.most) + 1):
            every = said.replies.get(self.vote(answer, number)[0].identity, ())
            replies = [one for one in every if with_errors or is_reply(one.token)]
            if not replies:
                continue
            ballot.size += number > self._votes
            ballot.put(number, _reply(replies[-1]))
            newest = max(newest, replies[-1].id)
        return ballot, newest

    def _tasks_for(self, answer: AnswerToJudge, ballot: Ballot, said: Said) -> Iterator[Task]:
        for number in range(1, self._votes + 1):
            vote, shelved = self.vote(answer, number)
            reply = ballot.replies.get(number)
            if reply is not None and (
                reply.verdict is not None or self._scope.only is not Only.ALL
            ):
                continue
            identity = vote.identity
            earlier = sum(is_reply(one.token) for one in said.replies.get(identity, ()))
            ballot.replies.pop(number, None)
            if identity not in self._taken:
                yield Task(answer, vote, earlier, shelved, ballot)


def _reply(said: VoteSaid) -> Reply:
    flags = (said.evidence or {}).get("flags", ())
    return Reply(said.verdict, said.unscored_reason, said.rationale, said.checkpoints or (), flags)
