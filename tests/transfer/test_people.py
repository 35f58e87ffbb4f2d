"""What people are called in exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalbot.domain.reviewing import COMMAND_LINE
from evalbot.errors import EvalbotError, InputError
from evalbot.reviewing import handing_on
from evalbot.store.database import Database, open_database
from evalbot.store.grades import pseudonyms
from evalbot.transfer.people import People, give_pseudonyms
from evalbot.transfer.restore import import_run
from tests.people import add_people
from tests.reviewing.site import review_site

from .test_reviews import config, export


def test_a_name_that_is_not_to_be_told_is_never_told() -> None:
    people = People({"ann": "reviewer-1"})
    assert people.name("ann") == "reviewer-1"
    assert people.name(COMMAND_LINE) == COMMAND_LINE
    with pytest.raises(EvalbotError, match="export once more"):
        people.name("bob")
    assert People(None).name("bob") == "bob"


def known(database: Database) -> dict[str, str]:
    with database.read() as connection:
        return pseudonyms(connection)


def test_everybody_gets_a_pseudonym_once(database_url: str, tmp_path: Path) -> None:
    with open_database(database_url) as database:
        site = review_site(database, tmp_path, 2)
        site.campaign("ann", "bob")
        assert known(database) == {}
        give_pseudonyms(database, site.run.id)
        first = known(database)
        assert first.keys() == {"ann", "bob", "lee"}
        assert len(set(first.values())) == 3
        give_pseudonyms(database, site.run.id)
        site.grade_item("ann")
        assert known(database) == first


def test_somebody_new_since_the_export_makes_it_another_run(tmp_path: Path) -> None:
    with open_database(f"sqlite:///{tmp_path}/a.db") as database:
        site = review_site(database, tmp_path, 2)
        made = site.campaign("ann")
        export(site, "one")
        add_people(database, dora="reviewer")
        handing_on.reassign(database, made.campaign.id, "ann", "dora")
        with pytest.raises(InputError, match="with other content"):
            import_run(database, config(site), tmp_path / "one")
        assert "dora" not in known(database)
