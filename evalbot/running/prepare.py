"""Making a run, or taking one up again; everything that can be refused is refused here."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evalbot import __version__
from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.domain.settings import Config, EndpointSettings
from evalbot.endpoints.request import headers
from evalbot.errors import InputError
from evalbot.formats.catalogue import find_rubric, find_suite, list_suites
from evalbot.formats.choosing import chosen
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.grading.basis import SUITE_FOLDER, basis_from_files
from evalbot.running.self_check import SELF_CHECK, WORDS
from evalbot.store import leases, runs
from evalbot.store.database import Database


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a suite is asked of whom; empty means all."""

    endpoints: tuple[str, ...] = ()
    limit: int | None = None
    tags: tuple[str, ...] = ()
    repeats: int = 1
    label: str | None = None
    self_check: bool = False


@dataclass(frozen=True, slots=True)
class Extension:
    """What taking up a run again adds to it."""

    endpoints: tuple[str, ...] = ()
    add_endpoints: tuple[str, ...] = ()
    repeats: int | None = None
    self_check: bool = False


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run in the record, and the settings of the endpoints to be asked now."""

    run: Run
    endpoints: tuple[EndpointSettings, ...]


class Questions(NamedTuple):
    """What a run asks, and the rubric that grades it.

    folder: where the suite lies, if its name does not lead there.
    """

    suite: Suite
    rubric: Rubric
    folder: Path | None = None


def read_questions(config: Config, suite_name: str, selection: Selection) -> Questions:
    """The suite, cut down to the selection, and its rubric."""
    path = find_suite(suite_name, config.folder)
    suite = read_suite(path)
    by_name = list_suites(config.folder).get(suite.name)
    elsewhere = None if by_name is not None and by_name.samefile(path) else path.absolute()
    rubric = read_rubric(find_rubric(suite.rubric, config.folder))
    cases = suite.cases
    if selection.tags:
        cases = tuple(case for case in cases if set(case.tags) & set(selection.tags))
        if not cases:
            known = sorted({tag for case in suite.cases for tag in case.tags})
            raise InputError(
                f"suite {suite.name}: no case has the tag {', '.join(selection.tags)}; "
                f"its tags are: {', '.join(known) or 'none'}"
            )
    return Questions(replace(suite, cases=cases[: selection.limit]), rubric, elsewhere)


def choose_endpoints(config: Config, names: Sequence[str]) -> tuple[EndpointSettings, ...]:
    """The endpoints of these names, or all; each one's API key is seen to be there."""
    known = {endpoint.name: endpoint for endpoint in config.endpoints}
    if not known:
        raise InputError(
            "evalbot.yaml has no endpoints; add one under `endpoints:` (docs/guide.md shows how)"
        )
    found = chosen(known, names, "endpoint")
    for endpoint in found:
        headers(endpoint)
    return found


def new_run(
    database: Database, config: Config, questions: Questions, selection: Selection
) -> PreparedRun:
    """Write a new run of one suite into the record; nothing has been asked yet."""
    suite, rubric, folder = questions
    endpoints = choose_endpoints(config, selection.endpoints)
    now = datetime.now(UTC)
    run = Run(
        id=new_run_id(suite.name, now),
        suite=suite,
        rubric=rubric,
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.RUNNING,
        repeats=selection.repeats,
        started_at=now,
        label=selection.label,
        endpoints=tuple(run_endpoint(endpoint) for endpoint in endpoints),
        version=__version__,
        settings={
            "limit": selection.limit,
            "tags": list(selection.tags),
            **({SELF_CHECK: dict(WORDS)} if selection.self_check else {}),
            **({} if folder is None else {SUITE_FOLDER: str(folder)}),
        },
    )
    with database.write() as connection:
        runs.create_run(connection, run)
    return PreparedRun(run, endpoints)


def resume_run(
    database: Database,
    config: Config,
    run_id: str,
    extension: Extension,
    before_writing: Callable[[Sequence[EndpointSettings]], None] = lambda _: None,
) -> PreparedRun:
    """Take up a run again; raises InputError where it would not be the same run any more.

    LeaseHeldError where another process works on it. before_writing is shown the endpoints
    that will be asked, and may refuse by raising: until then nothing has been written.
    """
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
    if run.state is RunState.IMPORTED:
        raise InputError(f"run {run.id} was imported: there is nothing to resume")
    basis = basis_from_files(run, config.folder)
    if basis.changed:
        raise InputError(
            f"run {run.id}: the questions of suite {run.suite.name} changed since "
            f"(cases {', '.join(basis.changed[:5])}{' …' if len(basis.changed) > 5 else ''}); "
            "undo that, or start a new run"
        )
    recorded = {endpoint.name: endpoint for endpoint in run.endpoints}
    for name in extension.add_endpoints:
        if name in recorded:
            raise InputError(f"run {run.id} has endpoint {name} already; leave it out")
    names = extension.endpoints or tuple(recorded)
    for name in names:
        if name not in recorded:
            raise InputError(f"run {run.id} has no endpoint {name}; add it with --add-endpoints")
    chosen = choose_endpoints(config, names)
    _refuse_other_settings(run, chosen, recorded)
    added = choose_endpoints(config, extension.add_endpoints) if extension.add_endpoints else ()
    if extension.repeats is not None and extension.repeats < run.repeats:
        raise InputError(
            f"run {run.id} has {run.repeats} repeats already; --repeats can only add to them"
        )
    added_settings = {SELF_CHECK: dict(WORDS)} if extension.self_check else {}
    extended = replace(
        run,
        settings={**added_settings, **run.settings},
        suite=basis.suite,
        rubric=basis.rubric,
        repeats=extension.repeats or run.repeats,
        endpoints=(*run.endpoints, *(run_endpoint(endpoint) for endpoint in added)),
    )
    before_writing((*chosen, *added))
    with database.write() as connection:
        leases.refuse_if_held(connection, run.id)
        runs.set_grading(connection, run.id, basis.suite, basis.rubric)
        runs.set_repeats(connection, run.id, extended.repeats)
        for name in added_settings:
            runs.set_setting(connection, run, name, extended.settings[name])
        runs.add_endpoints(
            connection,
            run.id,
            extended.endpoints[len(run.endpoints) :],
            position=len(run.endpoints),
        )
    return PreparedRun(extended, (*chosen, *added))


def new_run_id(suite: str, at: datetime) -> str:
    """A name that is easy to type and is not met twice: suite, day, four hex digits."""
    return f"{suite}-{at:%Y%m%d}-{secrets.token_hex(3)}"


def run_endpoint(endpoint: EndpointSettings) -> RunEndpoint:
    """What the record keeps of an endpoint before it has been looked at."""
    return RunEndpoint(
        name=endpoint.name,
        settings=endpoint.answer_settings(),
        settings_fingerprint=endpoint.fingerprint(),
        family=endpoint.family,
        quantisation=endpoint.quantisation,
        hardware=endpoint.hardware,
    )


def _refuse_other_settings(
    run: Run, chosen: Sequence[EndpointSettings], recorded: dict[str, RunEndpoint]
) -> None:
    for endpoint in chosen:
        changed = changed_settings(endpoint, recorded[endpoint.name])
        if changed:
            raise InputError(
                f"run {run.id}: endpoint {endpoint.name} was asked with other settings "
                f"({', '.join(changed)}); undo that, or give the new settings a new name and "
                "add it with --add-endpoints"
            )


def changed_settings(endpoint: EndpointSettings, before: RunEndpoint) -> list[str]:
    """Which of the settings that decide the answers are others than those recorded."""
    if before.settings_fingerprint == endpoint.fingerprint():
        return []
    now = endpoint.answer_settings()
    return [key for key, value in now.items() if before.settings.get(key) != value]
