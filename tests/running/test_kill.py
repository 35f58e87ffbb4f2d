"""A run killed at any moment and taken up again ends as an undisturbed one."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.answers import Place
from evalbot.domain.runs import RunState
from tests.fault_server import FaultServer, default_answer
from tests.waiting import wait_until

from .processes import Evalbot
from .site import Site

CASES, REPEATS, ENDPOINTS = 50, 3, ("a", "b")
ANSWERS = CASES * REPEATS * len(ENDPOINTS)
PACE_S = 0.012
"""So that a run lasts about as long as its process takes to start."""


def undisturbed() -> dict[Place, str]:
    return {
        Place(f"c{i}", name, repeat): default_answer(f"p{i}")
        for i in range(CASES)
        for name in ENDPOINTS
        for repeat in range(1, REPEATS + 1)
    }


def kill_and_resume(site: Site, kills: int, seed: int) -> None:
    """Begin a run, kill it so many times, taking it up each time, and see what is there."""
    chance = random.Random(seed)
    with FaultServer() as one, FaultServer("gemma-test") as two:
        one.pace_s = two.pace_s = PACE_S
        for name, server in zip(ENDPOINTS, (one, two), strict=True):
            site.endpoint(name, server.base_url)

        def asked() -> int:
            return len(one.chats) + len(two.chats)

        working = Evalbot(site, "s", "--repeats", str(REPEATS))
        run = working.run
        for _ in range(kills):
            # Where in the run by what was asked, where in a step by time.
            target = asked() + chance.randrange(ANSWERS // kills)
            wait_until(lambda: asked() >= target or working.process.poll() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.03))
            working.kill()
            site.check_record(run)
            working = Evalbot(site, "--resume", run)
        code, said = working.wait()
    assert code == 0, said
    assert site.texts(run) == undisturbed()
    assert site.statuses(run) == {S.OK: ANSWERS}
    assert site.verdicts(run) == {"right": ANSWERS}
    assert site.run(run).state is RunState.FINISHED
    site.check_record(run)


@pytest.mark.parametrize(("seed", "kills"), list(enumerate((1, 1, 1, 1, 2, 2, 2, 3, 3, 4))))
def test_killed_on_sqlite(kills: int, seed: int, tmp_path: Path) -> None:
    kill_and_resume(Site(tmp_path, cases=CASES), kills, seed)


@pytest.mark.parametrize(("kills", "seed"), [(1, 20), (1, 21), (3, 22)])
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_killed_on_postgresql(kills: int, seed: int, tmp_path: Path, database_url: str) -> None:
    kill_and_resume(Site(tmp_path, database_url, cases=CASES), kills, seed)
