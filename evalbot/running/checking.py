"""What `evalbot check` finds out without asking anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.cases import Suite
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.rubrics import Rubric, ScorerName
from evalbot.domain.settings import EndpointSettings, JudgeSettings
from evalbot.endpoints.connections import open_session
from evalbot.endpoints.preflight import inspect
from evalbot.errors import EndpointError, InputError, NotFoundError, Problem, ProblemsError
from evalbot.formats.catalogue import find_rubric, list_rubrics, list_suites
from evalbot.formats.problems import one_of, shown
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.formats.words import count


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """One endpoint: what it is, or why it cannot be asked now."""

    name: str
    facts: EndpointFacts | None
    error: str | None


@dataclass(frozen=True, slots=True)
class FileReport:
    """Lines for the suites and rubrics that are well, and all problems of those that are not."""

    lines: tuple[str, ...]
    problems: tuple[Problem, ...]


def check_files(folder: Path) -> FileReport:
    """Read every suite and rubric that can be used from this folder."""
    lines: list[str] = []
    problems: list[Problem] = []
    rubrics = list_rubrics(folder)
    for name, path in list_suites(folder).items():
        try:
            suite = read_suite(path)
        except ProblemsError as error:
            problems.extend(error.problems)
            continue
        try:
            rubric = read_rubric(find_rubric(suite.rubric, folder))
        except NotFoundError:
            known = one_of(rubrics, suite.rubric)
            problems.append(Problem(f"{name}/suite.yaml", "rubric", shown(suite.rubric), known))
        except ProblemsError as error:
            told = f"the name of a rubric that is well; {suite.rubric} is not"
            problems.append(Problem(f"{name}/suite.yaml", "rubric", shown(suite.rubric), told))
            if suite.rubric not in rubrics:
                problems.extend(error.problems)
        else:
            lines.append(f"suite {name}: {count(len(suite.cases), 'case')}: ok ({path})")
            lines += _warnings(suite, rubric)
    for name, path in rubrics.items():
        try:
            rubric = read_rubric(path)
        except ProblemsError as error:
            problems.extend(error.problems)
        else:
            lines.append(f"rubric {name}: version {rubric.version}: ok ({path})")
    return FileReport(tuple(lines), tuple(problems))


def _warnings(suite: Suite, rubric: Rubric) -> list[str]:
    """Cases that the automatic scorer can only leave open."""
    if rubric.auto.scorer is ScorerName.NONE:
        return []
    bare = [
        case.key
        for case in suite.cases
        if not (case.references or case.acceptable or case.traps) and case.scorer is None
    ]
    if not bare:
        return []
    some = ", ".join(bare[:3]) + (" …" if len(bare) > 3 else "")
    return [
        f"suite {suite.name}: warning: {count(len(bare), 'case')} without references will always "
        f"be needs_review ({some})"
    ]


def shared_addresses(endpoints: Sequence[EndpointSettings]) -> list[str]:
    """Warnings for endpoints that share a server but would be asked at the same time."""
    by_address: dict[str, list[EndpointSettings]] = {}
    for endpoint in endpoints:
        by_address.setdefault(endpoint.base_url, []).append(endpoint)
    return [
        f"{', '.join(one.name for one in together)}: warning: they share a server and will slow "
        "each other down; give them the same group"
        for together in by_address.values()
        if len(together) > 1 and (len({one.group for one in together}) > 1 or not together[0].group)
    ]


OWN_SERVER = "openai/"
"""How a judge's model begins that is asked at an address of one's own, as endpoints are."""


def servers_of(judges: Sequence[JudgeSettings]) -> list[EndpointSettings]:
    """Judges on servers of one's own, as endpoints that can be looked at."""
    return [
        EndpointSettings(
            name=f"judge {judge.name}",
            base_url=judge.api_base,
            model=judge.model.removeprefix(OWN_SERVER),
            api_key_env=judge.api_key_env,
        )
        for judge in judges
        if judge.api_base is not None and judge.model.startswith(OWN_SERVER)
    ]


def crowded(judges: Sequence[JudgeSettings], reports: Sequence[EndpointReport]) -> list[str]:
    """Warnings for judges that are asked more at once than their servers take."""
    slots = {report.name: report.facts.slots for report in reports if report.facts is not None}
    return [
        f"judge {judge.name}: warning: asked {judge.concurrency} at once, its server has "
        f"{count(there, 'slot')}: the others wait, and may run into timeout_s; set concurrency"
        for judge in judges
        if (there := slots.get(f"judge {judge.name}")) is not None and there < judge.concurrency
    ]


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
