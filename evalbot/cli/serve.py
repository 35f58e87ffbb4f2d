"""`evalbot serve`: the web page."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import CONFIG_NAME, ConfigOption, DatabaseOption, open_site, split_list

if TYPE_CHECKING:
    from types import FrameType

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 7860
EXAMPLE = "Example: evalbot serve --port 7860"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", epilog=EXAMPLE)(serve)


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine need users.")
    ] = DEFAULT_HOST,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = DEFAULT_PORT,
    public_url: Annotated[
        str | None,
        typer.Option(help="What browsers call the server, where that is not its own address."),
    ] = None,
    trusted_proxy: Annotated[
        str | None, typer.Option(help="IP addresses of proxies that may pass requests on.")
    ] = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Serve the web page: reviewers grade blind; leads draw, decide, chat, run and read results.

    Without any users it serves this machine only, through a one-time address that it prints.
    """
    from evalbot.ui.address import checked_address
    from evalbot.ui.serving import serve as serve_page

    address = checked_address(host, port, public_url, split_list(trusted_proxy))
    signal.signal(signal.SIGTERM, _interrupt)
    with open_site(config, database, make=True) as (settings, opened):
        path = config or settings.folder / CONFIG_NAME
        typer.echo("starting …", err=True)
        serve_page(
            opened,
            path if path.is_file() else None,
            settings.folder,
            address,
            lambda url: typer.echo(f"open {url}   (Ctrl-C stops)", err=True),
        )


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
