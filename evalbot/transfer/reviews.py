"""The reviews of a run: out of the record, and into it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from evalbot.domain.reviewing import COMMAND_LINE, Draw
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.errors import InputError
from evalbot.fingerprint import fingerprint
from evalbot.reviewing.dealing import new_id
from evalbot.store import assignments, campaigns
from evalbot.store.database import Connection
from evalbot.store.grades import put_grader
from evalbot.store.reviews import (
    add_known_grades,
    held_of_run,
    known_grades_of,
    places_by_row,
)
from evalbot.transfer.assignment_lines import (
    AssignmentRecord,
    assignment_line,
    assignment_record,
)
from evalbot.transfer.campaign_lines import (
    CampaignRecord,
    DrawRecord,
    campaign_line,
    campaign_record,
)
from evalbot.transfer.held_lines import HeldRecord, held_line, held_record
from evalbot.transfer.lines import Line
from evalbot.transfer.people import People
from evalbot.transfer.reading import Whereabouts
from evalbot.transfer.refs import RunOrder
from evalbot.transfer.review_texts import ReviewTexts, other_texts


@dataclass(frozen=True, slots=True)
class Reviews:
    """All campaigns of a run by id, oldest first, and what was given, said and held back."""

    campaigns: Mapping[str, CampaignRecord]
    assignments: tuple[AssignmentRecord, ...] = ()
    held: tuple[HeldRecord, ...] = ()

    @property
    def people(self) -> set[str]:
        """Everybody who is named in them and signed in for it."""
        found = {one.assignment.reviewer for one in self.assignments}
        found |= {one.held.by for one in self.held if one.held.by is not None}
        for record in self.campaigns.values():
            found |= {*record.campaign.plan.reviewers, record.campaign.created_by}
            found |= {one.draw.by for one in record.draws}
        return found - {COMMAND_LINE}

    def assignment_lines(self) -> Iterator[Line]:
        """The lines of assignments.jsonl."""
        for one in self.assignments:
            yield assignment_line(one, self.campaigns[one.assignment.campaign])

    def lines(self) -> Iterator[Line]:
        """All that is said in them, whatever the files hold today."""
        yield from map(campaign_line, self.campaigns.values())
        yield from self.assignment_lines()
        yield from map(held_line, self.held)


def reviews_of(connection: Connection, run: Run, people: People) -> Reviews:
    """The reviews of a run in an order that no database and no name decides alone."""
    found = campaigns.list_campaigns(connection, run.id)
    held = held_of_run(connection, run.id)
    if not found and not held:
        return Reviews({})
    order = RunOrder(run)
    rows = places_by_row(connection, run.id)
    places = {row: Whereabouts(*where) for row, where in rows.items()}
    records = {}
    given: list[AssignmentRecord] = []
    for one in sorted(found, key=attrgetter("created_at", "id")):
        draws = campaigns.draws_of(connection, one.id)
        records[one.id] = campaign_record(one, draws, places, order, people)
        said = known_grades_of(connection, one.id)
        mine = [
            assignment_record(each, said.get(each.id, ()), places, people)
            for each in assignments.read_assignments(connection, one.id)
        ]
        given += sorted(mine, key=attrgetter("place"))
    kept = [held_record(one, places[one.answer_id], people) for one in held]
    kept.sort(key=lambda one: order.key(one.answer))
    return Reviews(records, tuple(given), tuple(kept))


def campaign_lines(
    connection: Connection, reviews: Reviews, in_files: ReviewTexts
) -> Iterator[Line]:
    """The lines of campaigns.jsonl, each with the texts that the files do not hold."""
    for name, record in reviews.campaigns.items():
        mine = (one.assignment for one in reviews.assignments if one.assignment.campaign == name)
        texts = other_texts(connection, record.campaign, mine, in_files)
        yield {**campaign_line(record), "texts": texts}


def write_reviews(
    connection: Connection, reviews: Reviews, rows: Mapping[Whereabouts, int], *, names: bool
) -> None:
    """Write reviews that came in, whose texts are there; rows: of the run's answers.

    Raises InputError where another run has a campaign of the same id.
    """
    there = {one.id: one.run for one in campaigns.list_campaigns(connection)}
    for name, record in reviews.campaigns.items():
        if name in there:
            raise InputError(
                f"the record has a campaign {name} already, of run {there[name]}; "
                "nothing was changed, --database names another database"
            )
        campaigns.add_campaign(connection, record.campaign)
        for one in record.draws:
            campaigns.add_draw(connection, _draw(one, rows))
    if not names:
        # A person who is known by a pseudonym only keeps it in the next export.
        for person in sorted(reviews.people):
            put_grader(connection, str(Layer.HUMAN), person, None, pseudonym=person)
    made = [
        replace(
            one.assignment,
            id=new_id(),
            answer_id=None if one.answer is None else rows[one.answer],
        )
        for one in reviews.assignments
    ]
    assignments.add_assignments(connection, made)
    known = [
        grade._replace(assignment=one.id, token=fingerprint([one.id, number]))
        for one, record in zip(made, reviews.assignments, strict=True)
        for number, grade in enumerate(record.said)
    ]
    add_known_grades(connection, known)
    held = [one.held._replace(answer_id=rows[one.answer]) for one in reviews.held]
    assignments.put_held(connection, held)


def _draw(record: DrawRecord, rows: Mapping[Whereabouts, int]) -> Draw:
    chances = {
        unit if isinstance(unit, str) else str(rows[unit]): chance
        for unit, chance in record.chances.items()
    }
    return replace(record.draw, chances=chances)
