"""Runs that this process works on in the background: started, watched, stopped, taken up again.

They have a thread and an event loop of their own, so that asking models never delays who looks
at a page. Runs that share an endpoint, or a group that takes turns, wait for one another: side
by side each would slow the other, and neither's timings would be its own.
"""

from __future__ import annotations

import asyncio
import shlex
import threading
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from evalbot.domain.settings import Config, EndpointSettings
from evalbot.errors import EvalbotError, InputError
from evalbot.running.prepare import (
    Extension,
    PreparedRun,
    Selection,
    choose_endpoints,
    new_run,
    read_questions,
    resume_run,
)
from evalbot.running.progress import Progress
from evalbot.running.runner import Runner, RunOptions
from evalbot.running.trust import unconfirmed
from evalbot.store.database import Database

BUG = "this is a bug in evalbot; what it wrote to its terminal helps to mend it"


class JobState(StrEnum):
    """How work on a run stands; incomplete: not everything could be asked."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FINISHED = "finished"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


ENDED = frozenset({JobState.STOPPED, JobState.FINISHED, JobState.INCOMPLETE, JobState.FAILED})


@dataclass(eq=False, slots=True)
class Job:
    """Work on one run. number: how many were begun before. needs: what it shares with others.

    error: why it failed, in a sentence.
    """

    run: str
    number: int
    progress: Progress
    needs: frozenset[str]
    state: JobState = JobState.WAITING
    error: str | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ENDED


class BackgroundRuns:
    """Works on runs until `close`, which stops them as Ctrl-C stops one on the command line."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._begun = 0
        self._is_closed = False

    def start(self, config: Config, suites: Sequence[str], selection: Selection) -> list[str]:
        """Begin a new run of each suite; their ids.

        All that can be wrong is raised, as InputError, before anything is written.
        """
        if not suites:
            raise InputError("choose a suite to run")
        refuse_unconfirmed(choose_endpoints(config, selection.endpoints), config)
        asked = [read_questions(config, name, selection) for name in suites]
        with self._lock:
            self._refuse_closed()
            made = [new_run(self._database, config, questions, selection) for questions in asked]
            for prepared in made:
                self._begin(prepared, RunOptions(config.folder))
        return [prepared.run.id for prepared in made]

    def resume(self, config: Config, run: str, *, retry_failed: bool = False) -> str:
        """Take up a run again where it stopped; its id.

        Raises InputError where it would not be the same run any more, and LeaseHeldError,
        naming the holder, where another process works on it.
        """
        with self._lock:
            self._refuse_closed()
            job = self._jobs.get(run)
            if job is not None and not job.is_over:
                raise InputError(f"run {run} is being worked on here already; stop it first")
            prepared = resume_run(
                self._database,
                config,
                run,
                Extension(),
                lambda endpoints: refuse_unconfirmed(endpoints, config),
            )
            self._begin(prepared, RunOptions(config.folder, retry_failed=retry_failed))
        return prepared.run.id

    def stop(self, run: str) -> None:
        """Let a run come to a clean end; what was answered is recorded. InputError for others'."""
        with self._lock:
            job = self._jobs.get(run)
            if job is None or job.is_over:
                raise InputError(f"run {run} is not being worked on by this server")
            self._stop(job)

    def job(self, run: str) -> Job | None:
        """The newest work on a run; None where this process has not worked on it."""
        return self._jobs.get(run)

    def jobs(self) -> list[Job]:
        """All work, the oldest first; what has ended too."""
        with self._lock:
            return list(self._jobs.values())

    def close(self) -> None:
        """Stop all runs cleanly, and wait for that; nothing can be started afterwards."""
        with self._lock:
            self._is_closed = True
            open_ = [job for job in self._jobs.values() if not job.is_over]
            for job in open_:
                self._stop(job)
        for job in open_:
            job.ended.wait()
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _begin(self, prepared: PreparedRun, options: RunOptions) -> None:
        runner = Runner(self._database, prepared.run, prepared.endpoints, options)
        needs = frozenset(_needs(prepared.endpoints))
        job = Job(prepared.run.id, self._begun, runner.progress, needs)
        self._begun += 1
        before = [one for one in self._jobs.values() if not one.is_over and one.needs & job.needs]
        # Taken out first: the dict's order is that of beginning.
        self._jobs.pop(job.run, None)
        self._jobs[job.run] = job
        self._running_loop().call_soon_threadsafe(self._spawn, job, runner, before)

    def _spawn(self, job: Job, runner: Runner, before: Sequence[Job]) -> None:
        waited_for = [self._tasks[one] for one in before if one in self._tasks]
        task = asyncio.get_running_loop().create_task(_work(job, runner, waited_for))
        self._tasks[job] = task
        task.add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: Job) -> None:
        del self._tasks[job]
        if not job.is_over:  # cancelled before it had begun
            job.state = JobState.STOPPED
        job.ended.set()

    def _stop(self, job: Job) -> None:
        def cancel() -> None:
            task = self._tasks.get(job)
            if task is not None:
                task.cancel()

        if job.state is not JobState.STOPPING:
            job.state = JobState.STOPPING
            self._running_loop().call_soon_threadsafe(cancel)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            # A daemon: a server that is killed a second time does not wait for models.
            self._thread = threading.Thread(
                target=_serve, args=(self._loop,), name="runs", daemon=True
            )
            self._thread.start()
        return self._loop

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise InputError("the server is ending; start it again, and then the run")


def refuse_unconfirmed(endpoints: Sequence[EndpointSettings], config: Config) -> None:
    """Raises InputError where commands would run that nobody has confirmed on this machine."""
    for endpoint in endpoints:
        commands = [command for command in (endpoint.start, endpoint.stop) if command]
        for command in unconfirmed(commands, config.folder):
            raise InputError(
                f"endpoint {endpoint.name} would run the command `{shlex.join(command)}`, which "
                "was never confirmed on this machine; run it once from the command line, where "
                f"you are asked: evalbot run SUITE --endpoints {endpoint.name} --limit 1"
            )


async def _work(job: Job, runner: Runner, before: Sequence[asyncio.Task[None]]) -> None:
    try:
        if before:
            await asyncio.wait(before)
        if job.state is JobState.WAITING:
            job.state = JobState.RUNNING
        finished = await runner.execute()
        job.state = JobState.FINISHED if finished else JobState.INCOMPLETE
    except asyncio.CancelledError:
        job.state = JobState.STOPPED
    except EvalbotError as error:
        job.error, job.state = str(error), JobState.FAILED
    except Exception as error:
        traceback.print_exception(error)
        job.error, job.state = BUG, JobState.FAILED


def _needs(endpoints: Sequence[EndpointSettings]) -> Iterator[str]:
    for endpoint in endpoints:
        yield f"server {endpoint.base_url}"
        if endpoint.group:
            yield f"group {endpoint.group}"


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
