"""What `evalbot check` finds out without asking anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.preflight import inspect
from evalbot.errors import EndpointError, InputError, NotFoundError, Problem, ProblemsError
from evalbot.formats.catalogue import find_rubric, list_rubrics, list_suites
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """One endpoint: what it is, or why it cannot be asked now."""

    name: str
    facts: EndpointFacts | None
    error: str | None


def check_files(folder: Path) -> list[str]:
    """A line for each suite and rubric; raises ProblemsError with all that is wrong in any."""
    lines: list[str] = []
    problems: list[Problem] = []
    for name, path in list_suites(folder).items():
        try:
            suite = read_suite(path)
            find_rubric(suite.rubric, folder)
        except ProblemsError as error:
            problems.extend(error.problems)
        except NotFoundError as error:
            problems.append(Problem(f"{name}/suite.yaml", "rubric", "", str(error)))
        else:
            lines.append(f"suite {name}: {len(suite.cases)} cases: ok")
    for name, path in list_rubrics(folder).items():
        try:
            rubric = read_rubric(path)
        except ProblemsError as error:
            problems.extend(error.problems)
        else:
            lines.append(f"rubric {name}: version {rubric.version}: ok")
    if problems:
        raise ProblemsError(problems)
    return lines


async def check_endpoints(endpoints: Sequence[EndpointSettings]) -> list[EndpointReport]:
    """Look at all endpoints at once."""
    return list(await asyncio.gather(*(_check(endpoint) for endpoint in endpoints)))


async def _check(endpoint: EndpointSettings) -> EndpointReport:
    try:
        async with open_session(endpoint) as session:
            return EndpointReport(endpoint.name, await inspect(session, endpoint), None)
    except (EndpointError, InputError) as error:
        reason = str(error).removeprefix(f"endpoint {endpoint.name}: ")
        return EndpointReport(endpoint.name, None, reason)
