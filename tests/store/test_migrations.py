"""Migrations lead to the same tables as a fresh database has, on both databases."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, create_engine, select, text

from evalbot.errors import InputError, NeedsUpgradeError, StoreError
from evalbot.formats.catalogue import shipped_folder
from evalbot.store import runs, sweeps
from evalbot.store.answers import read_answers
from evalbot.store.database import connect, open_database, revision_of
from evalbot.store.grades import read_grades
from evalbot.store.tables import SCHEMA_REVISION, metadata
from evalbot.store.upgrades import backup, upgrade
from tests.building import record, said, small_run, write_site

MIGRATIONS = shipped_folder() / "migrations"


def differences(url: str) -> list[object]:
    with connect(url) as database, database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))


def test_a_fresh_database_has_todays_tables(database_url: str) -> None:
    open_database(database_url).close()
    assert differences(database_url) == []


def test_all_migrations_together_make_todays_tables(database_url: str) -> None:
    with connect(database_url) as database:
        assert upgrade(database, MIGRATIONS) is None
        assert revision_of(database) == SCHEMA_REVISION
    assert differences(database_url) == []


def test_the_newest_migration_is_the_one_the_code_needs() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == SCHEMA_REVISION


def test_opening_twice_makes_tables_once(database_url: str) -> None:
    open_database(database_url).close()
    open_database(database_url).close()


def set_revision(url: str, revision: str) -> None:
    with connect(url) as database, database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


def test_an_older_database_asks_for_an_upgrade(database_url: str) -> None:
    open_database(database_url).close()
    set_revision(database_url, "0000")
    with pytest.raises(NeedsUpgradeError, match="type: evalbot db upgrade"):
        open_database(database_url)


def test_a_newer_database_is_left_alone(database_url: str) -> None:
    open_database(database_url).close()
    set_revision(database_url, "9999")
    with pytest.raises(NeedsUpgradeError, match="made by a newer evalbot"):
        open_database(database_url)


def test_tables_without_a_version_are_not_taken_over(database_url: str) -> None:
    open_database(database_url).close()
    with connect(database_url) as database, database.write() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
    with pytest.raises(StoreError, match="no version"):
        open_database(database_url)


def test_a_backup_is_a_whole_database(tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path}/a.db"
    with open_database(source) as database:
        backup(database, tmp_path / "b.db")
        with pytest.raises(InputError, match="is there already"):
            backup(database, tmp_path / "b.db")
    with open_database(f"sqlite:///{tmp_path}/b.db") as copy:
        assert revision_of(copy) == SCHEMA_REVISION


def test_an_upgrade_copies_the_database_first(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_database(url).close()
    with connect(url) as database, database.write() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(text(f"DROP TABLE {table.name}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    with connect(url) as database, pytest.raises(StoreError, match=r"could not be upgraded.*0000"):
        upgrade(database, MIGRATIONS)
    assert len(list(tmp_path.glob("a.backup-*.db"))) == 1


@pytest.mark.parametrize("older", ["0001", "0002", "0003"])
def test_an_upgrade_keeps_every_row(tmp_path: Path, database_url: str, older: str) -> None:
    run = small_run(write_site(tmp_path), "a", "b")
    answer = said("door", "a", "请关门")
    newest = f"sqlite:///{tmp_path / 'newest.db'}"
    with open_database(newest) as database:
        record(database, run, [answer])
    with connect(database_url) as database:
        upgrade(database, MIGRATIONS, older)
    copy_rows(newest, database_url)
    with connect(database_url) as database:
        upgrade(database, MIGRATIONS)
    assert differences(database_url) == []
    with open_database(database_url) as database, database.read() as connection:
        assert runs.get_run(connection, run.id) == run
        assert [one.answer for _, one in read_answers(connection, run.id)] == [answer.answer]
        [grade] = read_grades(connection, run.id)
        assert (grade.grade.verdict, grade.grade.checkpoints) == ("correct", None)
        assert sweeps.list_sweeps(connection) == []


def copy_rows(source: str, target: str) -> None:
    """All rows of the columns that both databases have: what an older evalbot had written."""
    old = MetaData()
    engine = create_engine(target.replace("postgresql://", "postgresql+psycopg://"))
    old.reflect(engine)
    with create_engine(source).connect() as reading, engine.begin() as writing:
        for table in metadata.sorted_tables:
            if table.name not in old.tables:
                continue
            into = old.tables[table.name]
            rows = [dict(row) for row in reading.execute(select(table)).mappings()]
            kept = [{name: row[name] for name in row if name in into.columns} for row in rows]
            if kept:
                for name in kept[0]:
                    into.columns[name].type = table.columns[name].type
                writing.execute(into.insert(), kept)
    engine.dispose()
