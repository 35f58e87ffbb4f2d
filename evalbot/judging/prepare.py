"""Which judges judge a run, by which rules, and what that will take; nothing is asked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.settings import Config, JudgeSettings
from evalbot.errors import InputError
from evalbot.formats.choosing import chosen
from evalbot.grading.basis import basis_of
from evalbot.judging.asking import DEFAULT_MAX_TOKENS
from evalbot.judging.docket import Docket, Material, Scope
from evalbot.judging.voting import Bench
from evalbot.providers.anthropic_batches import can_batch
from evalbot.running.estimate import most_tokens, rough_tokens
from evalbot.store import runs
from evalbot.store.batches import identities_in_batches
from evalbot.store.database import Database


@dataclass(frozen=True, slots=True)
class Workload:
    """One judge's calls, before they are made.

    tokens_to_read is rough; most_to_read holds for whatever tokens a model has.

    judged: verdicts that are on record already; unscored: replies there that brought none.
    """

    judge: JudgeSettings
    calls: int
    judged: int
    unscored: int
    tokens_to_read: int
    most_to_read: int
    most_to_write: int


def choose_judges(config: Config, names: Sequence[str]) -> tuple[JudgeSettings, ...]:
    """The judges of these names, or all; NotFoundError for one that is not there."""
    known = {judge.name: judge for judge in config.judges}
    if not known:
        raise InputError(
            "evalbot.yaml has no judges; add one under `judges:` (docs/judging.md shows how)"
        )
    return chosen(known, names, "judge")


def read_material(database: Database, run_id: str, folder: Path) -> Material:
    """A run with what it is judged by today."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
    return Material(run, basis_of(run, folder))


def votes_of(judge: JudgeSettings, votes: int | None, material: Material) -> int:
    """How often the judge is asked about an answer; InputError where that can make no grade."""
    count = judge.votes if votes is None else votes
    rubric = material.basis.rubric
    if count < rubric.judge.min_votes:
        raise InputError(
            f"rubric {rubric.name} wants at least {rubric.judge.min_votes} votes for a grade, "
            f"judge {judge.name} would give {count}; try --votes {rubric.judge.min_votes}"
        )
    return count


def taken_by_batches(
    database: Database, material: Material, judges: Sequence[JudgeSettings]
) -> dict[str, set[str]]:
    """By judge, identities that a batch has which is not fetched yet."""
    with database.read() as connection:
        found = identities_in_batches(connection, material.run.id)
    return {judge.name: found.get(judge.name, set()) for judge in judges}


def refuse_unbatchable(judges: Sequence[JudgeSettings]) -> None:
    """Raises InputError for a judge whose provider has no batches that evalbot knows."""
    for judge in judges:
        if not can_batch(judge):
            raise InputError(
                f"judge {judge.name}: {judge.model} cannot be sent in batches, only anthropic/ "
                "models can; name others with --judges, or leave out --batch"
            )


def prepare(
    database: Database,
    material: Material,
    judges: Sequence[JudgeSettings],
    votes: int | None,
    scope: Scope,
    taken: Mapping[str, set[str]],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Bench, list[Workload]]:
    """The session's bench, and each judge's workload.

    taken: by judge, identities that are in a batch. progress is told which judge is looked at.
    """
    counts = {judge.name: votes_of(judge, votes, material) for judge in judges}
    dockets = {
        judge.name: Docket(material, judge, counts[judge.name], scope, taken[judge.name])
        for judge in judges
    }
    loads = []
    for judge in judges:
        progress(judge.name)
        calls = judged = unscored = read = most = 0
        for page in dockets[judge.name].pages(database):
            calls += len(page.tasks)
            judged += page.judged
            unscored += page.unscored
            read += sum(one.shelved.tokens + rough_tokens(one.answer.text) for one in page.tasks)
            most += sum(one.shelved.bytes + most_tokens(one.answer.text) for one in page.tasks)
        written = int(judge.sampling.get("max_tokens", DEFAULT_MAX_TOKENS))
        loads.append(Workload(judge, calls, judged, unscored, read, most, calls * written))
    calls_of = {load.judge.name: load.calls for load in loads}
    judged_by = {load.judge.name: load.judged for load in loads}
    return Bench(tuple(judges), counts, scope, dockets, calls_of, judged_by, taken), loads
