"""What people are called in an export: by their names, or by pseudonyms that the record keeps."""

from __future__ import annotations

from collections.abc import Mapping

from evalbot.domain.reviewing import COMMAND_LINE
from evalbot.domain.rubrics import Layer
from evalbot.errors import EvalbotError
from evalbot.store import runs
from evalbot.store.database import Connection, Database
from evalbot.store.grades import pseudonyms, put_grader
from evalbot.store.reviews import people_in_reviews
from evalbot.transfer.run_votes import votes_of_run


class People:
    """Tells what each person is called. called: by name; None where names are told.

    is_told: what comes of it leaves the house; else it is only compared.
    """

    def __init__(self, called: Mapping[str, str] | None, *, is_told: bool = True) -> None:
        self._called = called
        self._is_told = is_told

    def name(self, person: str) -> str:
        """What this person is called; EvalbotError rather than a name that is not to be told."""
        if self._called is None or person == COMMAND_LINE:
            return person
        if person not in self._called and self._is_told:
            raise EvalbotError("somebody new took part while this was written; export once more")
        return self._called.get(person, person)


def people_of(connection: Connection, *, names: bool, is_told: bool = True) -> People:
    """People by their names, or by pseudonyms."""
    return People(None if names else pseudonyms(connection), is_told=is_told)


def give_pseudonyms(database: Database, run_id: str) -> None:
    """See that everybody in the reviews of a run, and all voters, have a pseudonym on record.

    Who grades gets one with the first grade; who was only given something, or drew, or voted,
    gets one here. They are random: made from the name, they could be guessed back.
    """
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        present = people_in_reviews(connection, run.id)
        present |= {cast.vote.voter for cast in votes_of_run(connection, run)}
        missing = present - pseudonyms(connection).keys() - {COMMAND_LINE}
    if missing:
        with database.write() as connection:
            for person in sorted(missing):
                put_grader(connection, str(Layer.HUMAN), person, None)
