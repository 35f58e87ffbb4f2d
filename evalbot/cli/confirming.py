"""Commands of a config are shown once before they first run on this machine."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.printing import printable
from evalbot.errors import InputError

if TYPE_CHECKING:
    from evalbot.domain.settings import Config, EndpointSettings

AllowCommandsOption = Annotated[
    bool, typer.Option("--allow-commands", help="Run the config's commands without asking.")
]


def confirm_commands(
    endpoints: Sequence[EndpointSettings],
    settings: Config,
    allowed: bool,
    telemetry: Sequence[tuple[str, ...]] = (),
) -> None:
    """Show what was never confirmed here and ask; InputError where nobody can or will say yes."""
    from evalbot.running.trust import confirm, unconfirmed

    starting = [one for endpoint in endpoints for one in (endpoint.start, endpoint.stop) if one]
    commands = unconfirmed([*starting, *telemetry], settings.folder)
    if not commands:
        return
    typer.echo("The config wants to run these commands on this machine:", err=True)
    for command in commands:
        typer.echo(f"  {printable(shlex.join(command))}", err=True)
    if not allowed:
        if not sys.stdin.isatty():
            raise InputError(
                "these commands were never confirmed here; run once in a terminal, or give "
                "--allow-commands"
            )
        if not typer.confirm("Run them now and in future?", err=True):
            raise InputError("not confirmed; nothing was run")
    confirm(commands, settings.folder)
