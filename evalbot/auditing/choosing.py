"""Which runs can be audited, and what there is to choose from in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.auditing.gathering import judges_in_order
from evalbot.store.audited import families_of_judges
from evalbot.store.database import Database
from evalbot.store.run_lists import GradedRun, RunName, earlier_runs, graded_runs


@dataclass(frozen=True, slots=True)
class AuditChoices:
    """runs: all that a judge or people have graded, newest first.

    chosen: the one that is looked at, then those pooled with it; without any, nothing is graded.
    earlier: runs that the chosen one asks again. judges: of the chosen runs.
    """

    runs: tuple[GradedRun, ...]
    chosen: tuple[GradedRun, ...]
    earlier: tuple[RunName, ...]
    judges: tuple[str, ...]


def audit_choices(
    database: Database, run: str | None = None, pooled: Sequence[str] = ()
) -> AuditChoices:
    """What can be chosen beside this run: without one, or one that nobody graded, the newest.

    Newest is the newest that both a judge and people have graded, else the newest of all.
    pooled: runs of other suites are left out.
    """
    with database.read() as connection:
        graded = graded_runs(connection)
        first = next((one for one in graded if one.run == run), None) or _newest(graded)
        if first is None:
            return AuditChoices((), (), (), ())
        others = [
            one
            for one in graded
            if one.run in pooled and one.suite == first.suite and one.run != first.run
        ]
        chosen = (first, *others)
        judges = {name for one in chosen for name in families_of_judges(connection, one.run)}
        return AuditChoices(
            runs=tuple(graded),
            chosen=chosen,
            earlier=tuple(earlier_runs(connection, first.run)),
            judges=tuple(judges_in_order(judges)),
        )


def _newest(runs: Sequence[GradedRun]) -> GradedRun | None:
    both = (one for one in runs if one.by_judge and one.by_people)
    return next(both, None) or next(iter(runs), None)
