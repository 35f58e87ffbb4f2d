"""Serving until told to stop; Gradio and the rest of it are imported only here."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from evalbot.errors import EvalbotError, InputError
from evalbot.store.database import Database
from evalbot.ui.address import Address
from evalbot.ui.identity import Identity

LONGEST_FAREWELL_S = 3


def serve(
    database: Database,
    config_path: Path | None,
    folder: Path,
    address: Address,
    say: Callable[[str], None],
) -> None:
    """Serve the web page until Ctrl-C; say is told what to open.

    Raises InputError where others could reach it and nobody is a user, and EvalbotError where
    the port is taken.
    """
    if not address.is_loopback and not Identity(database, address.port).has_users():
        raise InputError(
            f"{address.url} can be reached by others, and there are no users yet; add one with "
            "`evalbot users add NAME --role lead`, or serve on 127.0.0.1"
        )
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    import socket

    import uvicorn

    from evalbot.ui.server import build_server

    # Bound before anything slow: a port that is taken is told at once.
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With its protocol named, since asyncio sends at once (TCP_NODELAY) only over such sockets:
    # otherwise every second reply of a kept connection waits 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address.host, address.port))
        except OSError as error:
            raise EvalbotError(
                f"cannot serve on {address.host} port {address.port} ({error.strerror}); "
                "--port names another"
            ) from error
        server = build_server(database, config_path, folder, address)
        token = server.identity.owner_token
        say(f"{address.url}/?token={token}" if token else address.url)
        config = uvicorn.Config(
            server.app,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=LONGEST_FAREWELL_S,
        )
        # At the end, open streams of pages are cut: that is no error to be told.
        logging.getLogger("uvicorn.error").addFilter(_is_worth_telling)
        uvicorn.Server(config).run(sockets=[bound])


def _is_worth_telling(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)
