"""Judging: wall time a judgement, what is left of it without litellm, memory, and coming back."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.site import EVALBOT, instant_server, peak_mib, timed, write_site
from evalbot.domain.answers import Answer, AnswerStatus, Place
from evalbot.domain.judging import JudgeRequest
from evalbot.domain.runs import RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.domain.settings import JudgeSettings
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.providers.litellm_provider import LitellmProvider
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import open_database

AT_ONCE = 16
CASES, SMALL, JUDGED, LARGE = 500, 2_000, 10_000, 50_000
REPLY = json.dumps(
    {"reason": "The sense is kept; one word is free.", "checkpoints": [], "verdict": "acceptable"}
)


def measure(folder: Path) -> Iterator[str]:
    with instant_server(reply=REPLY) as address:
        own = folder / "own"
        own.mkdir()
        _write(own, address, SMALL)
        seconds = timed([*EVALBOT, "judge", "bench-run"], own).seconds
        bare = _bare(address, SMALL)
        start = timed([*EVALBOT, "judge", "bench-run"], own).seconds
    each = 1000 * (seconds - start) / SMALL
    yield (
        f"{SMALL} judgements, {AT_ONCE} at once, whole process: {seconds:.1f} s; without start and "
        f"table {each:.1f} ms a judgement (goal 15)"
    )
    alone = 1000 * bare / SMALL
    yield f"litellm alone, the same calls: {alone:.1f} ms each; ratio {each / alone:.2f}"
    few, many = (_peak(folder / str(answers), answers) for answers in (SMALL, LARGE))
    yield (
        f"memory: {few:.0f} MiB for {SMALL} judgements, {many:.0f} MiB for {LARGE}: "
        f"{many - few:.0f} more"
    )
    _peak(folder / str(JUDGED), JUDGED)
    again = timed([*EVALBOT, "judge", "bench-run"], folder / str(JUDGED)).seconds
    yield f"already judged, {JUDGED} answers: {again:.2f} s, whole process with its table (goal 2)"


def _write(folder: Path, address: str, answers: int) -> None:
    """A finished run of so many answers, and one judge."""
    write_site(folder, address, CASES, AT_ONCE)
    with (folder / "evalbot.yaml").open("a", encoding="utf-8") as config:
        config.write(
            f"judges:\n  - {{name: strong, model: openai/judge, api_base: '{address}/v1', "
            f"concurrency: {AT_ONCE}, price: {{input: 1, output: 1}}}}\n"
        )
    suite = read_suite(find_suite("bench", folder))
    now = datetime.now(UTC)
    run = Run(
        id="bench-run",
        suite=suite,
        rubric=read_rubric(find_rubric("translation", folder)),
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=max(1, answers // CASES),
        started_at=now,
        endpoints=(RunEndpoint("instant", {}, "f"),),
    )
    with open_database("sqlite:///evalbot.db", folder) as database, database.write() as connection:
        runs.create_run(connection, run)
        for repeat in range(1, run.repeats + 1):
            said = [
                RecordedAnswer(
                    Place(case.key, "instant", repeat),
                    1,
                    Answer(AnswerStatus.OK, f"会议在周五上午开始。{repeat}", "", "", now),
                    run.questions[case.key],
                )
                for case in suite.cases
            ]
            add_answers(connection, run.id, said)


def _peak(folder: Path, answers: int) -> float:
    """Most memory of judging so many answers by a judge in the same process."""
    folder.mkdir()
    _write(folder, "http://127.0.0.1:1", answers)
    return peak_mib([sys.executable, "-m", "bench.instant_judge"], folder)


def _bare(address: str, calls: int) -> float:
    """Seconds that litellm takes for such calls, nothing read or stored."""
    settings = JudgeSettings("strong", "openai/judge", api_base=f"{address}/v1")
    provider = LitellmProvider(settings)
    request = JudgeRequest("rules " * 200, "question " * 100, {"max_tokens": 1500}, None)

    async def worker(count: int) -> None:
        for _ in range(count):
            await provider.complete(request)

    async def work() -> float:
        await worker(1)
        began = time.perf_counter()
        await asyncio.gather(*(worker(calls // AT_ONCE) for _ in range(AT_ONCE)))
        return time.perf_counter() - began

    return asyncio.run(work())
