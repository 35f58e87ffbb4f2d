"""Judges the bench's run in this folder with a judge in this process, which replies at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.judge import REPLY
from evalbot.domain.answers import Usage
from evalbot.domain.judging import JudgeRequest, Price, ProviderReply
from evalbot.formats.config import read_config
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Scope
from evalbot.judging.prepare import prepare, read_material, taken_by_batches
from evalbot.judging.voting import judging_session
from evalbot.store.database import open_database


class InstantJudge:
    """Always of the same opinion."""

    price = Price(1.0, 1.0)

    async def complete(self, _: JudgeRequest) -> ProviderReply:
        """The reply."""
        return ProviderReply(REPLY, "stop", usage=Usage(300, 200, 40), cost_usd=0.001)


def main() -> None:
    config = read_config(Path("evalbot.yaml"))
    with open_database("sqlite:///evalbot.db", Path.cwd()) as database:
        material = read_material(database, "bench-run", config.folder)
        taken = taken_by_batches(database, material, config.judges)
        bench, _ = prepare(database, material, config.judges, None, Scope(), taken)
        session = judging_session(database, material, bench, {"strong": InstantJudge()}, Budget())
        asyncio.run(session.execute())


if __name__ == "__main__":
    main()
