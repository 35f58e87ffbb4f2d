"""A reviewer's desk: the item before them, and what of it may be seen.

Nothing here holds a model's name, a judge's word before it may be seen, a band or a speed: what
the page shows is made from these objects alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from evalbot.domain.cases import Case, Checkpoint, Language, Message, Suite
from evalbot.domain.json_form import case_from_json, rubric_from_json, suite_from_json
from evalbot.domain.people import User
from evalbot.domain.reviewing import Campaign, Draft, Layout, Purpose
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.grading.effective import effective
from evalbot.store import campaigns, own_grades, places, queue
from evalbot.store.database import Connection, Database
from evalbot.store.glances import glance_at_grades_of
from evalbot.store.own_grades import OwnGrade
from evalbot.store.queue import Counts, Entry
from evalbot.store.texts import get_texts

TODAY = timedelta(hours=12)
BREAK_S = 300.0
"""A longer pause between two grades is a break, and says nothing of the pace."""

PACE_GRADES = 200
FOLDED_AT = 6_000
"""Characters of an answer that are sent at first; the rest comes when it is asked for."""


@dataclass(frozen=True, slots=True)
class DeskAnswer:
    """One answer as its reviewer sees it. label: A, B …; length: of the whole text, which
    may be longer than what is shown.

    draft: what is typed and ticked, or was when it was graded.
    known: in practice, what it is, once graded. judge_shown: whether the judge's word may be
    seen now; judge: that word, None where it gave none.
    """

    id: str
    label: str
    text: str
    length: int
    is_truncated: bool
    is_masked: bool
    own: OwnGrade | None
    draft: Draft
    known: str | None = None
    judge_shown: bool = False
    judge: str | None = None

    @property
    def is_graded(self) -> bool:
        """Whether it has a grade that was not taken back."""
        return self.own is not None and self.own.unscored_reason != RETRACTED

    @property
    def is_changed(self) -> bool:
        """Whether something else is typed or ticked than stands in its grade."""
        said = _said(self.own)
        return self.is_graded and (
            self.draft.comment != said.comment or set(self.draft.ticked) != set(said.ticked)
        )


RETRACTED = "not_graded"
"""What a grade that was taken back says: the answer is as open as it was."""


@dataclass(frozen=True, slots=True)
class DeskItem:
    """What is before a reviewer. checkpoints: the rubric's and the case's own.

    number, items: its place in the queue from 0 (below it in practice), and how long the queue is.
    begins: nothing was graded yet, after practice where there was any.
    """

    campaign: str
    title: str
    number: int
    items: int
    is_first: bool
    is_last: bool
    begins: bool
    had_practice: bool
    is_practice: bool
    reveals: bool
    rubric: Rubric
    case: Case
    turns: tuple[Message, ...]
    language: Language
    checkpoints: tuple[Checkpoint, ...]
    answers: tuple[DeskAnswer, ...]
    counts: Counts
    seconds_left: float | None

    @property
    def is_done(self) -> bool:
        """Whether every answer of it is graded."""
        return all(one.is_graded for one in self.answers)


@dataclass(frozen=True, slots=True)
class Choice:
    """A campaign that a reviewer may work on, as it is called to them."""

    campaign: str
    title: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class DeskView:
    """What the page shows: an item, or that all is done (no item), or nothing to do (no choice).

    last: the answer that they graded last here, which an undo would take back.
    """

    choices: tuple[Choice, ...]
    current: str | None = None
    item: DeskItem | None = None
    last: str | None = None


class Desk:
    """Reads what is before a reviewer; texts that never change are kept."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._suites: dict[str, Suite] = {}
        self._rubrics: dict[str, Rubric] = {}

    def view(self, user: User, whole: Collection[str] = ()) -> DeskView:
        """What is before this reviewer, where they worked last.

        whole: the ids of answers that are to be seen in full, if they are before them.
        """
        with self._database.read() as connection:
            ids = queue.open_campaigns(connection, user.name)
            current = self._usual(connection, user, ids)
            found = [campaigns.get_campaign(connection, one) for one in ids]
            choices = tuple(
                Choice(
                    one.id,
                    self._suite(connection, one.suite_text).title,
                    queue.counts_of(connection, one.id, user.name),
                )
                for one in found
            )
            if current is None:
                return DeskView(choices)
            campaign = next(one for one in found if one.id == current)
            counts = next(one.counts for one in choices if one.campaign == current)
            item = self._item(connection, user, campaign, counts, whole)
            last = queue.last_done(connection, campaign.id, user.name)
            return DeskView(choices, current, item, None if last is None else last.id)

    def _usual(self, connection: Connection, user: User, ids: Sequence[str]) -> str | None:
        last = places.newest_place(connection, user.name)
        if last in ids:
            return last
        for one in ids:
            if queue.next_item(connection, one, user.name, None) is not None:
                return one
        return queue.graded_last(connection, user.name, ids) or next(iter(ids), None)

    def _item(
        self,
        connection: Connection,
        user: User,
        campaign: Campaign,
        counts: Counts,
        whole: Collection[str],
    ) -> DeskItem | None:
        number = places.get_place(connection, campaign.id, user.name)
        entries: list[Entry] = []
        if number is not None:
            entries = queue.item_entries(connection, campaign.id, user.name, number)
        if not entries:
            number = queue.next_item(connection, campaign.id, user.name, None)
            if number is None:
                return None
            entries = queue.item_entries(connection, campaign.id, user.name, number)
        assert number is not None
        suite = self._suite(connection, campaign.suite_text)
        first = entries[0].assignment
        case = case_from_json(get_texts(connection, [first.case_text])[first.case_text])
        case = _without(case, {entry.assignment.planted for entry in entries})
        rubric = self._rubric(connection, campaign.rubric_text)
        end = queue.last_item(connection, campaign.id, user.name)
        before = queue.neighbour(connection, campaign.id, user.name, number, before=True)
        return DeskItem(
            campaign=campaign.id,
            title=suite.title,
            number=number,
            items=0 if end is None else end + 1,
            is_first=before is None,
            is_last=number == end,
            begins=counts.done == 0,
            had_practice=campaign.plan.practice > 0,
            is_practice=first.purpose is Purpose.PRACTICE,
            reveals=campaign.plan.reveal_judge,
            rubric=rubric,
            case=case,
            turns=suite.conversation(case),
            language=suite.language_of(case),
            checkpoints=(*rubric.checkpoints, *case.checkpoints),
            answers=self._answers(connection, user, campaign, entries, whole),
            counts=counts,
            seconds_left=self._seconds_left(connection, user, campaign, counts),
        )

    def _answers(
        self,
        connection: Connection,
        user: User,
        campaign: Campaign,
        entries: Sequence[Entry],
        whole: Collection[str],
    ) -> tuple[DeskAnswer, ...]:
        ids = [one.assignment.id for one in entries]
        drafts = places.drafts_of(connection, ids)
        own = own_words(connection, user.name, entries)
        graded = [own.get(one.assignment.id) for one in entries]
        is_done = all(one is not None and one.unscored_reason != RETRACTED for one in graded)
        judged = {}
        if campaign.plan.reveal_judge and is_done:
            judged = _judged(connection, [a.answer_id for e in entries if (a := e.assignment)])
        single = campaign.plan.layout is Layout.SINGLE
        answers = []
        for entry in entries:
            one = entry.assignment
            # Checks are told nothing else about than the others, or they could be told apart.
            is_shown = (
                campaign.plan.reveal_judge and is_done and one.purpose is not Purpose.PRACTICE
            )
            answers.append(
                DeskAnswer(
                    id=one.id,
                    label="" if single and len(entries) == 1 else label_of(one.position),
                    text=entry.text if one.id in whole else entry.text[:FOLDED_AT],
                    length=len(entry.text),
                    is_truncated=entry.is_truncated,
                    is_masked=entry.is_masked,
                    own=own.get(one.id),
                    draft=drafts.get(one.id, _said(own.get(one.id))),
                    known=one.known if one.purpose is Purpose.PRACTICE and is_done else None,
                    judge_shown=is_shown,
                    judge=judged.get(one.answer_id) if is_shown else None,
                )
            )
        return tuple(answers)

    def _seconds_left(
        self, connection: Connection, user: User, campaign: Campaign, counts: Counts
    ) -> float | None:
        since = datetime.now(UTC) - TODAY
        times = queue.done_times(connection, campaign.id, user.name, since, PACE_GRADES)
        gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(times)]
        working = [gap for gap in gaps if gap <= BREAK_S]
        if len(working) < 3:
            return None
        return counts.open * sum(working) / len(working)

    def _suite(self, connection: Connection, fingerprint: str) -> Suite:
        if fingerprint not in self._suites:
            text = get_texts(connection, [fingerprint])[fingerprint]
            self._suites[fingerprint] = suite_from_json(text, ())
        return self._suites[fingerprint]

    def _rubric(self, connection: Connection, fingerprint: str) -> Rubric:
        if fingerprint not in self._rubrics:
            text = get_texts(connection, [fingerprint])[fingerprint]
            self._rubrics[fingerprint] = rubric_from_json(text)
        return self._rubrics[fingerprint]


def _without(case: Case, planted: Collection[str | None]) -> Case:
    """The case without those references that are planted among its answers, where others are left.

    A planted text that stands above as a correct answer would be known for what it is.
    """
    left = tuple(text for text in case.references if text not in planted)
    return replace(case, references=left) if left else case


def label_of(position: int) -> str:
    """A, B … Z, AA, AB …"""
    letters = ""
    left = position + 1
    while left:
        left, digit = divmod(left - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def own_words(
    connection: Connection, reviewer: str, entries: Sequence[Entry]
) -> dict[str, OwnGrade]:
    """By assignment, what its reviewer said of it last."""
    found: dict[str, OwnGrade] = {}
    plain = [one.assignment for one in entries if one.assignment.known is None]
    if plain:
        answers = [one.answer_id for one in plain if one.answer_id is not None]
        grades = own_grades.own_grades(connection, plain[0].campaign, reviewer, answers)
        found = {
            one.id: grades[one.answer_id]
            for one in plain
            if one.answer_id is not None and one.answer_id in grades
        }
    known = [one.assignment.id for one in entries if one.assignment.known is not None]
    return {**found, **(own_grades.known_grades(connection, known) if known else {})}


def _said(own: OwnGrade | None) -> Draft:
    """What was typed and ticked with a grade; nothing where it was taken back."""
    if own is None or own.unscored_reason == RETRACTED:
        return Draft("", ())
    return Draft(own.comment or "", own.ticked)


def _judged(connection: Connection, answers: Sequence[int | None]) -> dict[int | None, str | None]:
    """By answer, the judge layer's verdict."""
    ids = [one for one in answers if one is not None]
    grades = glance_at_grades_of(connection, ids, (str(Layer.JUDGE),))
    return {
        answer: effective(Layer.JUDGE, together, lambda _: False).verdict
        for answer, together in grades.items()
    }
