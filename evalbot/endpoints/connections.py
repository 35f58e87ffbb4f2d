"""Connections to one endpoint, kept open between requests."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TypeAlias

import aiohttp

from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.request import headers

LONGEST_CONNECT_S = 10.0

_reused: ContextVar[bool] = ContextVar("reused")
"""Whether the present request went out on a connection that was kept from an earlier one."""


Session: TypeAlias = aiohttp.ClientSession
"""What open_session gives, for those who only pass it on."""


def open_session(settings: EndpointSettings) -> Session:
    """As many connections as there are requests at once; close it when done."""
    timeout = aiohttp.ClientTimeout(
        total=None,
        sock_connect=min(LONGEST_CONNECT_S, settings.timeout_s),
        sock_read=settings.timeout_s,
    )
    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=timeout,
        headers=headers(settings),
        trace_configs=[tracing],
        middlewares=[_again_where_stale],
    )


async def _note_reuse(*_: object) -> None:
    _reused.set(True)


async def _again_where_stale(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Send again, at once, what met the end of a kept connection.

    llama.cpp promises to keep a connection and closes it some milliseconds after each
    stream; the next request then often comes just too late. That is no failure of the
    server's: only one on a fresh connection is.
    """
    while True:
        _reused.set(False)
        try:
            return await send(request)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not _reused.get():
                raise
