"""What most commands need first: the config, the database, lists from commas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.errors import InputError

if TYPE_CHECKING:
    from evalbot.domain.settings import Config
    from evalbot.store.database import Database

CONFIG_NAME = "evalbot.yaml"

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help=f"The config file.  [default: ./{CONFIG_NAME}]"),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="EVALBOT_DATABASE",
        help="Database URL, over the config's: sqlite:///FILE or postgresql+psycopg://USER@HOST/DB",
    ),
]


def read_site(config: Path | None, *, required: bool = False) -> Config:
    """The config; without a file an empty one, unless one was named or is required."""
    from evalbot.domain.settings import Config
    from evalbot.formats.config import read_config

    path = config or Path(CONFIG_NAME)
    if path.is_file() or config is not None:
        return read_config(path)
    if required:
        raise InputError(
            f"there is no {CONFIG_NAME} in this folder; `evalbot init` writes one, "
            "--config names one elsewhere"
        )
    return Config(folder=Path.cwd())


@contextmanager
def open_site(
    config: Path | None, database: str | None, *, make: bool = False
) -> Iterator[tuple[Config, Database]]:
    """The config and its open database, closed at the end; make: a new one if it is not there."""
    settings = read_site(config)
    with open_record(settings, database, make=make) as opened:
        yield settings, opened


def open_record(settings: Config, database: str | None, *, make: bool) -> Database:
    """The database named on the command line, or the config's."""
    from evalbot.store.database import open_database

    return open_database(record_url(settings, database), make=make)


def record_url(settings: Config, database: str | None) -> str:
    """The database's URL; a path typed here is meant from here, not from the config."""
    from evalbot.formats.urls import database_url

    if database is None:
        return database_url(settings.database, settings.folder)
    return database_url(database, Path.cwd())


def word_of(option: str, word: str, known: Sequence[str]) -> str:
    """A word that an option knows; InputError, with the nearest, for another."""
    from evalbot.formats.problems import one_of, shown

    if word not in known:
        raise InputError(f"{option}: found {shown(word)}; expected {one_of(known, word)}")
    return word


def split_list(text: str | None) -> tuple[str, ...]:
    """`a,b` as ("a", "b"); nothing as ()."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
