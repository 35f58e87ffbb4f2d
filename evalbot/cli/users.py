"""`evalbot users`: who may sign in to the web page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalbot.cli.output import FormatOption, OutputOption, choose_format, write_tables
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, word_of
from evalbot.errors import InputError

app = typer.Typer(help="Who may sign in to the web page.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The person's name.")]
PasswordOption = Annotated[
    bool,
    typer.Option("--password-stdin", help="Read the password from standard input, one line."),
]


@app.command("add", epilog="Example: evalbot users add ann --role reviewer")
def add(
    name: NameArgument,
    role: Annotated[
        str, typer.Option(help="reviewer: grades blind. lead: sees everything, and decides.")
    ],
    password_stdin: PasswordOption = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Add a person; asks for a password twice, or takes one from standard input."""
    from evalbot.domain.people import Role
    from evalbot.reviewing.users import add_user

    chosen = Role(word_of("--role", role, list(Role)))
    with open_site(config, database, make=True) as (_, opened):
        add_user(opened, name, chosen, _password(password_stdin))
    typer.echo(f"{name} may sign in as {role}", err=True)


@app.command("list", epilog="Example: evalbot users list")
def list_(
    form: FormatOption = None,
    output: OutputOption = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """List who may sign in, and who may not any more."""
    from evalbot.reporting.users import users_table

    chosen = choose_format(form, output)
    with open_site(config, database) as (_, opened):
        table = users_table(opened)
    write_tables(table, form=chosen, output=output)


@app.command("disable", epilog="Example: evalbot users disable ann")
def disable(
    name: NameArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Let a disabled person in again.")] = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Keep a person from signing in; open pages of theirs are refused at once, grades stay."""
    from evalbot.reviewing.users import disable_user, enable_user

    with open_site(config, database) as (_, opened):
        (enable_user if undo else disable_user)(opened, name)
    typer.echo(f"{name} {'may sign in again' if undo else 'cannot sign in any more'}", err=True)


@app.command("passwd", epilog="Example: evalbot users passwd ann")
def passwd(
    name: NameArgument,
    password_stdin: PasswordOption = False,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Give a person another password; they are signed out everywhere."""
    from evalbot.reviewing.users import change_password

    with open_site(config, database) as (_, opened):
        change_password(opened, name, _password(password_stdin))
    typer.echo(f"{name} has a new password", err=True)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError("a password is asked for in a terminal only; give --password-stdin")
    password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return password
