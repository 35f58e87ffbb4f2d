"""A sweep killed at any moment and taken up again ends as an undisturbed one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.domain.sweeps import SweepPlan
from evalbot.speed.prepare import PreparedSweep
from tests.fault_server import Chat, FaultServer, Reply, Step
from tests.waiting import wait_until

from .processes import Sweeping
from .serving import by_number, measured, written
from .site import SpeedSite

PLAN = SweepPlan((40, 90), (1, 3), 4, 2)
OPTIONS = ("--contexts", "40,90", "--concurrency", "1,3", "--output-tokens", "4", "--repeats", "2")
CHATS = 16


def holding_back(chat: Chat) -> Reply:
    return written(chat, before=(Step.GATE,))


def kill_and_resume(site: SpeedSite, kills: int, seed: int) -> None:
    """Kill it so often in the middle of some round, and see that whole rounds are left."""
    chance = random.Random(seed)
    with FaultServer() as server:
        measured(server)
        site.endpoint("a", server.base_url)
        sweep, left = "", CHATS
        for _ in range(kills):
            answered = len(server.chats) + 1 + chance.randrange(left // 2)
            kept = answered - len(server.chats)
            server.reply = by_number(*[written] * kept, holding_back)
            working = Sweeping(site, *(("--resume", sweep) if sweep else OPTIONS))
            sweep = working.sweep
            wait_until(lambda: server.at_once and len(server.chats) > answered)  # noqa: B023
            working.kill()
            wait_until(lambda: not server.at_once)
            rounds = site.samples(sweep)
            for round_, samples in rounds.items():
                assert [one.stream for one in samples] == list(range(1, round_.concurrency + 1))
            left = CHATS - sum(len(samples) for samples in rounds.values())
        server.reply = written
        server.chats.clear()
        code, _, said = Sweeping(site, "--resume", sweep).wait()
        assert code == 0, said
        assert len(server.chats) == 1 + left  # a warm-up, and what was missing
    site.check_whole(PreparedSweep(site.sweep(sweep), (), {}))
    assert site.sweep(sweep).plan == PLAN
    assert site.statuses(sweep) == {S.TRUNCATED: CHATS}
    assert site.sweep(sweep).state is RunState.FINISHED


@pytest.mark.parametrize(("seed", "kills"), [(0, 1), (1, 2)])
def test_killed_on_sqlite(kills: int, seed: int, tmp_path: Path) -> None:
    kill_and_resume(SpeedSite(tmp_path), kills, seed)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_killed_on_postgresql(tmp_path: Path, database_url: str) -> None:
    kill_and_resume(SpeedSite(tmp_path, database_url), kills=2, seed=10)
