"""An endpoint's server while it is needed: started if asked for, looked at, stopped again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.connections import Session
from evalbot.endpoints.preflight import inspect, is_answering, wait_until_healthy
from evalbot.errors import EndpointError
from evalbot.running.commands import ServerProcess
from evalbot.running.together import first_of, to_the_end

LONGEST_START_S = 600.0


@asynccontextmanager
async def stopped_afterwards(
    endpoint: EndpointSettings, folder: Path, say: Callable[[str], None]
) -> AsyncIterator[ServerProcess | None]:
    """What is to be started for this endpoint, None where it runs already.

    Stopped at the end whatever happens; a stop command that fails is only said.
    """
    if not endpoint.start and not endpoint.stop:
        yield None
        return
    server = ServerProcess(endpoint, folder)
    try:
        yield server if endpoint.start else None
    finally:
        await to_the_end(_stop(server, say))


async def look_at(
    session: Session,
    endpoint: EndpointSettings,
    server: ServerProcess | None,
    starting: Callable[[], None],
) -> EndpointFacts:
    """What the endpoint is, once it is ready; started first where there is a server to start.

    starting is called before that. Raises EndpointError where it does not get ready.
    """
    if server is None:
        await wait_until_healthy(session, endpoint, endpoint.timeout_s, starting=False)
    else:
        starting()
        if await is_answering(session, endpoint):
            raise EndpointError(
                f"endpoint {endpoint.name}: another server answers at its address "
                "already, and would be taken for the one to be started; stop that one first"
            )
        await server.start()
        await first_of(
            wait_until_healthy(session, endpoint, LONGEST_START_S, starting=True),
            server.watch(),
        )
    return await inspect(session, endpoint)


async def _stop(server: ServerProcess, say: Callable[[str], None]) -> None:
    try:
        await server.stop()
    except EndpointError as error:
        say(str(error))
