"""`evalbot db`: upgrade, status and backup of the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, read_site, record_url

if TYPE_CHECKING:
    from evalbot.store.database import Database

app = typer.Typer(help="Upgrade, look at, or back up the database.", no_args_is_help=True)


@app.command("upgrade", epilog="Example: evalbot db upgrade")
def upgrade(config: ConfigOption = None, database: DatabaseOption = None) -> None:
    """Bring an older database up to date; a SQLite file is copied first."""
    from evalbot.formats.catalogue import shipped_folder
    from evalbot.store.database import revision_of
    from evalbot.store.upgrades import upgrade as run_migrations

    with _connected(config, database) as connected:
        copy = run_migrations(connected, shipped_folder() / "migrations")
        if copy is not None:
            typer.echo(f"The database as it was: {copy}", err=True)
        typer.echo(f"The database is at version {revision_of(connected)}.", err=True)


@app.command("status", epilog="Example: evalbot db status")
def status(config: ConfigOption = None, database: DatabaseOption = None) -> None:
    """Tell which version the database has, and whether it needs an upgrade."""
    from evalbot.store.database import require, revision_of
    from evalbot.store.tables import SCHEMA_REVISION

    with _connected(config, database) as connected:
        require(connected)
        found = revision_of(connected)
        typer.echo(f"database: {connected.address}")
        typer.echo(f"version:  {found}")
        typer.echo(f"needed:   {SCHEMA_REVISION}")
        if found is not None and found < SCHEMA_REVISION:
            typer.echo("It needs an upgrade; type: evalbot db upgrade", err=True)
            raise typer.Exit(1)


@app.command("backup", epilog="Example: evalbot db backup evalbot-copy.db")
def backup(
    file: Annotated[Path, typer.Argument(help="The new file to write.", metavar="FILE")],
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Copy a SQLite database, also while a run writes to it."""
    from evalbot.store.database import require
    from evalbot.store.upgrades import backup as copy_database

    with _connected(config, database) as connected:
        require(connected)
        copy_database(connected, file)
    typer.echo(f"wrote {file}", err=True)


def _connected(config: Path | None, database: str | None) -> Database:
    from evalbot.store.database import connect

    return connect(record_url(read_site(config), database))
