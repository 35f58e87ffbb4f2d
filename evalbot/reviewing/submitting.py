"""What a reviewer does: grade, take back, keep, type, move. Each is checked against the record.

Every grade has a token that its page made up: the same one twice is one grade, however often a
dropped connection or a double click sends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evalbot.domain.cases import Checkpoint
from evalbot.domain.json_form import case_from_json, rubric_from_json
from evalbot.domain.people import Role, User
from evalbot.domain.reviewing import Assignment, Campaign, Draft, KnownGrade, Purpose
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import NewGrade
from evalbot.errors import InputError, NotFoundError
from evalbot.fingerprint import fingerprint
from evalbot.reviewing.desk import RETRACTED, own_words
from evalbot.reviewing.moments import now_after
from evalbot.store import assignments, campaigns, own_grades, places, queue
from evalbot.store.database import Connection, Database
from evalbot.store.grades import GradeWriter
from evalbot.store.queue import Entry
from evalbot.store.texts import get_texts

CANNOT_JUDGE = "cannot_judge"
LONGEST_COMMENT = 10_000
LONGEST_TOKEN = 100


@dataclass(frozen=True, slots=True)
class Said:
    """What a reviewer says of an answer; verdict None: they cannot judge it."""

    verdict: str | None
    comment: str = ""
    ticked: tuple[str, ...] = ()


def grade(database: Database, user: User, assignment_id: str, said: Said, token: str) -> None:
    """Write a reviewer's grade, and move on where its item is done and holds nothing to be seen.

    Raises NotFoundError for what is not theirs, and InputError for a verdict off the scale or a
    closed campaign; nothing is written then.
    """
    _check(said, token)
    with database.write() as connection:
        # Two sends of one grade at the same moment come one after the other.
        assignments.get_assignment(connection, assignment_id, lock=True)
        entry, campaign = _theirs(connection, user, assignment_id)
        one = entry.assignment
        unique = fingerprint([one.id, token])
        if _is_there(connection, one, unique):
            return
        at = _moment(connection, user, one)
        _add(connection, user, campaign, entry, said, unique, at)
        assignments.set_done(connection, one.id, at)
        places.forget_draft(connection, one.id)
        _move_on(connection, user, campaign, one, at)


def _take_back(
    connection: Connection,
    user: User,
    campaign: Campaign,
    entry: Entry,
    unique: str,
    at: datetime,
) -> None:
    """Give an answer back the grade it had before its last one; without one, it is open again.

    A restored grade counts from when it was given first: by that the next undo knows that it
    was restored, and goes on to what was graded before.
    """
    one = entry.assignment
    history = own_grades.own_history(connection, user.name, one)
    now, before = history[-1], history[-2] if len(history) > 1 else None
    is_change = before is not None and before.unscored_reason != RETRACTED
    if before is None or not is_change or now.at != one.done_at:
        _write(connection, user, campaign, entry, None, RETRACTED, Said(None), unique, at)
        assignments.set_done(connection, one.id, None)
        places.set_draft(connection, one.id, Draft(now.comment or "", now.ticked), at)
        return
    said = Said(before.verdict, before.comment or "", before.ticked)
    _write(
        connection, user, campaign, entry, before.verdict, before.unscored_reason, said, unique, at
    )
    assignments.set_done(connection, one.id, before.at)
    places.forget_draft(connection, one.id)


def undo(
    database: Database, user: User, campaign_id: str, token: str, expected: str | None = None
) -> bool:
    """Take back the reviewer's last grade, and go back to it; False where there is none.

    Where it changed an earlier grade, that one counts again. All stays in the history; what is
    added says what happened. expected: the
    assignment whose grade the page takes for the last; InputError where another one is, which
    was graded in another tab, or by somebody else who signed in meanwhile.
    """
    _check(Said(None), token)
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        unique = fingerprint(["undo", campaign.id, user.name, token])
        last = queue.last_done(connection, campaign.id, user.name)
        if last is not None:
            # Two at the same moment come one after the other.
            assignments.get_assignment(connection, last.id, lock=True)
        if own_grades.has_grade(connection, unique) or own_grades.has_known_grade(
            connection, unique
        ):
            return True
        last = queue.last_done(connection, campaign.id, user.name)
        if last is None:
            return False
        if expected is not None and last.id != expected:
            raise InputError(
                "nothing was taken back: another answer was graded meanwhile, perhaps in another "
                "tab; look at it first"
            )
        entry = queue.one_entry(connection, last.id, user.name)
        if entry is None:
            return False
        at = _moment(connection, user, last)
        _take_back(connection, user, campaign, entry, unique, at)
        places.set_place(connection, campaign.id, user.name, last.item, at)
        return True


def keep(database: Database, user: User, campaign_id: str, item: int, token: str) -> None:
    """After the judge's word was shown: the reviewer's grades of this item stay as they are."""
    _check(Said(None), token)
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        entries = queue.item_entries(connection, campaign.id, user.name, item)
        own = own_words(connection, user.name, entries)
        for entry in entries:
            one, mine = entry.assignment, own.get(entry.assignment.id)
            unique = fingerprint([one.id, token])
            if (
                not campaign.plan.reveal_judge
                or one.purpose is not Purpose.REVIEW
                or mine is None
                or mine.times > 1
                or mine.unscored_reason == RETRACTED
                or own_grades.has_grade(connection, unique)
            ):
                continue
            said = Said(mine.verdict, mine.comment or "", mine.ticked)
            moment = _moment(connection, user, one)
            _add(connection, user, campaign, entry, said, unique, moment)
        _go_on(connection, user, campaign, item, at)


def go_on(database: Database, user: User, campaign_id: str, item: int) -> None:
    """To the next item that is open."""
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        _go_on(connection, user, campaign, item, datetime.now(UTC))


def move(database: Database, user: User, campaign_id: str, item: int, *, back: bool) -> None:
    """To the item before or after, graded or not; at either end nothing happens."""
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        found = queue.neighbour(connection, campaign.id, user.name, item, before=back)
        if found is not None:
            places.set_place(connection, campaign.id, user.name, found, datetime.now(UTC))


def choose(database: Database, user: User, campaign_id: str) -> None:
    """Work on this campaign from now on, at its next open item."""
    at = datetime.now(UTC)
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        found = queue.next_item(connection, campaign.id, user.name, None)
        if found is None:
            found = queue.last_item(connection, campaign.id, user.name)
        if found is None:
            raise NotFoundError("this review is not yours")
        places.set_place(connection, campaign.id, user.name, found, at)


def look_back(database: Database, user: User, campaign_id: str) -> None:
    """To the last item, when all is done."""
    with database.write() as connection:
        campaign = _open(connection, campaign_id)
        found = queue.last_item(connection, campaign.id, user.name)
        if found is not None:
            places.set_place(connection, campaign.id, user.name, found, datetime.now(UTC))


def save_draft(database: Database, user: User, assignment_id: str, draft: Draft) -> None:
    """Keep what is typed and ticked, so that a reload or another computer goes on with it."""
    if len(draft.comment) > LONGEST_COMMENT:
        raise InputError(f"a comment may have at most {LONGEST_COMMENT} characters")
    with database.write() as connection:
        entry, _ = _theirs(connection, user, assignment_id)
        places.set_draft(connection, entry.assignment.id, draft, datetime.now(UTC))


def _moment(connection: Connection, user: User, one: Assignment) -> datetime:
    """When this is said: an undo goes by the order of a campaign, a table by that of an answer."""
    last = queue.last_done(connection, one.campaign, user.name)
    return now_after(
        [
            None if last is None else last.done_at,
            own_grades.last_said_at(connection, user.name, one),
        ]
    )


def _check(said: Said, token: str) -> None:
    if not 8 <= len(token) <= LONGEST_TOKEN:
        raise InputError("this page sent no token of its own; load it again")
    if len(said.comment) > LONGEST_COMMENT:
        raise InputError(f"a comment may have at most {LONGEST_COMMENT} characters")


def _open(connection: Connection, campaign_id: str) -> Campaign:
    campaign = campaigns.get_campaign(connection, campaign_id)
    if campaign.closed_at is not None:
        raise InputError("this review is closed")
    return campaign


def _theirs(connection: Connection, user: User, assignment_id: str) -> tuple[Entry, Campaign]:
    entry = queue.one_entry(connection, assignment_id, user.name)
    if entry is None:
        # The same words for what is not there and what is somebody else's.
        raise NotFoundError("this answer is not yours to grade; load the page again")
    return entry, _open(connection, entry.assignment.campaign)


def _is_there(connection: Connection, one: Assignment, unique: str) -> bool:
    if one.known is None:
        return own_grades.has_grade(connection, unique)
    return own_grades.has_known_grade(connection, unique)


def _add(
    connection: Connection,
    user: User,
    campaign: Campaign,
    entry: Entry,
    said: Said,
    unique: str,
    at: datetime,
) -> None:
    rubric = _rubric(connection, campaign)
    if said.verdict is not None and said.verdict not in rubric.verdicts:
        raise InputError(f"{said.verdict!r} is not on this rubric's scale")
    reason = CANNOT_JUDGE if said.verdict is None else None
    _write(connection, user, campaign, entry, said.verdict, reason, said, unique, at)


def _write(
    connection: Connection,
    user: User,
    campaign: Campaign,
    entry: Entry,
    verdict: str | None,
    reason: str | None,
    said: Said,
    unique: str,
    at: datetime,
) -> None:
    one = entry.assignment
    rubric = _rubric(connection, campaign)
    ticks = None
    if reason != RETRACTED:
        ticks = _ticks(_lines(connection, rubric, one), said.ticked)
    if one.known is not None:
        own_grades.add_known_grade(
            connection,
            KnownGrade(one.id, verdict, reason, said.comment or None, ticks, at, unique),
        )
        return
    assert one.answer_id is not None
    new = NewGrade(
        layer=str(Layer.HUMAN),
        grader=user.name,
        verdict=verdict,
        unscored_reason=reason,
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_fingerprint=campaign.rubric_rule,
        case_fingerprint=one.case_rule,
        at=at,
        token=unique,
        checkpoints=ticks,
        comment=said.comment or None,
        campaign=campaign.id,
        seen=_seen(connection, user, campaign, entry),
    )
    GradeWriter(connection).add([(one.answer_id, new)])


def _seen(connection: Connection, user: User, campaign: Campaign, entry: Entry) -> Sequence[str]:
    """What else was before the reviewer's eyes when they graded."""
    one = entry.assignment
    seen = ["references", "rubric", f"layout:{campaign.plan.layout}"]
    if entry.is_masked:
        seen.append("masked")
    if user.role is Role.LEAD:
        seen.append("lead")
    if campaign.plan.reveal_judge:
        # Shown when all of the item had been graded, also if some of it is open again.
        item = queue.item_entries(connection, campaign.id, user.name, one.item)
        said = own_words(connection, user.name, item)
        if all(other.assignment.id in said for other in item):
            seen.append("judge")
    return seen


def _move_on(
    connection: Connection, user: User, campaign: Campaign, one: Assignment, at: datetime
) -> None:
    """Stay where something is to be graded or seen yet, else to the next open item.

    Who has come back to change a grade is there to look, and stays too.
    """
    entries = queue.item_entries(connection, campaign.id, user.name, one.item)
    stays = (
        one.done_at is not None
        or any(entry.assignment.done_at is None for entry in entries)
        or one.purpose is Purpose.PRACTICE
        or campaign.plan.reveal_judge
    )
    if stays:
        places.set_place(connection, campaign.id, user.name, one.item, at)
    else:
        _go_on(connection, user, campaign, one.item, at)


def _go_on(connection: Connection, user: User, campaign: Campaign, item: int, at: datetime) -> None:
    found = queue.next_item(connection, campaign.id, user.name, item)
    if found is None:
        places.forget_place(connection, campaign.id, user.name)
    else:
        places.set_place(connection, campaign.id, user.name, found, at)


def _lines(connection: Connection, rubric: Rubric, one: Assignment) -> tuple[Checkpoint, ...]:
    case = case_from_json(get_texts(connection, [one.case_text])[one.case_text])
    return (*rubric.checkpoints, *case.checkpoints)


def _ticks(lines: Sequence[Checkpoint], ticked: Sequence[str]) -> list[dict[str, object]] | None:
    """Each line of the rubric and case, and whether it was ticked; None where there are none."""
    return [{"id": line.id, "met": line.id in ticked, "quote": None} for line in lines] or None


def _rubric(connection: Connection, campaign: Campaign) -> Rubric:
    text = get_texts(connection, [campaign.rubric_text])[campaign.rubric_text]
    return rubric_from_json(text)
