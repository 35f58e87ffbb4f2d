"""One endpoint's part of a sweep: look at it, warm it up, measure round after round."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Message
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.runs import RunEndpoint
from evalbot.domain.settings import EndpointSettings
from evalbot.domain.sweeps import Moment, Round, Sample
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import Session, open_session
from evalbot.endpoints.counting import count_tokens
from evalbot.endpoints.preflight import inspect, wait_until_healthy
from evalbot.endpoints.request import without_key
from evalbot.errors import EndpointError
from evalbot.formats.received import shorten
from evalbot.running.commands import ServerProcess
from evalbot.running.progress import EndpointProgress
from evalbot.running.serving import LONGEST_START_S, look_at, stopped_afterwards
from evalbot.speed.asking import MEASURED, NO_RETRIES, ask_round, measuring
from evalbot.speed.memory import Telemetry
from evalbot.speed.overhead import Overhead
from evalbot.speed.prompts import Prompt, PromptMaker
from evalbot.speed.record import SweepRecord
from evalbot.speed.served import Served, changed

WARM_UP_TOKENS = 8


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """What one endpoint's visit needs to know: how it is asked, and where it all goes.

    endpoint: as the sweep asks it. recorded: as the record knows it so far. mark: see
    PromptMaker.
    """

    endpoint: EndpointSettings
    recorded: RunEndpoint
    telemetry: tuple[str, ...]
    folder: Path
    mark: str


class Visit:
    """Measures one endpoint. Raises EndpointError where it cannot go on."""

    def __init__(
        self,
        settings: VisitSettings,
        record: SweepRecord,
        progress: EndpointProgress,
        overhead: Overhead,
    ) -> None:
        self._settings = settings
        self._endpoint = settings.endpoint
        self._recorded = settings.recorded
        self._record = record
        self._progress = progress
        self._overhead = overhead
        self._telemetry = Telemetry(
            settings.endpoint.name,
            settings.telemetry,
            settings.folder,
            record.add_reading,
            lambda words: without_key(words, settings.endpoint),
        )

    async def measure(self, rounds: Sequence[Round]) -> None:
        """Measure these rounds and record each; the server is stopped if it was started."""
        if self._endpoint.start:
            await self._telemetry.read(Moment.UNLOADED)
        try:
            await self._serve_and_measure(rounds)
        except EndpointError:
            await self._read_unloaded()
            raise
        await self._read_unloaded()

    async def _read_unloaded(self) -> None:
        """See what is held once the server that was started is stopped."""
        if self._endpoint.start or self._endpoint.stop:
            await self._telemetry.read(Moment.STOPPED)

    async def _serve_and_measure(self, rounds: Sequence[Round]) -> None:
        async with (
            stopped_afterwards(
                self._endpoint, self._settings.folder, self._progress.warnings.append
            ) as server,
            open_session(self._endpoint) as session,
        ):
            await self._measure(session, server, rounds)

    async def _measure(
        self, session: Session, server: ServerProcess | None, rounds: Sequence[Round]
    ) -> None:
        facts = await self._look(session, server)
        client = EndpointClient(
            session, self._endpoint, facts.slot_context, facts.slots, NO_RETRIES
        )

        async def count(text: str) -> int | None:
            return await count_tokens(session, self._endpoint, [Message("user", text)])

        maker = PromptMaker(count, self._settings.mark)
        fitting = [one.context for one in rounds if self._too_long(one, facts) is None]
        if fitting:
            await self._warm_up(session, maker, min(fitting))
        await self._telemetry.read(Moment.BEFORE)
        for round_ in rounds:
            self._progress.state = f"{round_.context} tokens, {round_.concurrency} at once"
            samples = self._too_long(round_, facts)
            if samples is None:
                # A server that crashed and loads its model again is waited for.
                await wait_until_healthy(session, self._endpoint, LONGEST_START_S, starting=False)
                prompts = [await maker.make(round_.context) for _ in range(round_.concurrency)]
                samples = await self._timed(client, round_, prompts)
                await self._refuse_another(session, facts)
            await self._record.add_round(round_, samples)
            self._progress.answered(_in_one_word(samples))
        await self._telemetry.read(Moment.AFTER)

    async def _look(self, session: Session, server: ServerProcess | None) -> EndpointFacts:
        def starting() -> None:
            self._progress.state = "starting"

        self._progress.state = "looking"
        facts = await look_at(session, self._endpoint, server, starting)
        before = Served.recorded(self._recorded)
        other = before and changed(before, Served.of_facts(facts))
        if other:
            raise EndpointError(
                f"endpoint {self._endpoint.name}: {other} changed since the sweep began: it was "
                f"{before}, now it is {Served.of_facts(facts)}; serve it as before, or start a "
                "new sweep"
            )
        self._progress.warnings.extend(facts.warnings)
        self._recorded = replace(
            self._recorded,
            family=facts.loaded.family,
            quantisation=facts.loaded.quantisation,
            model_id=facts.loaded.id,
            model_fingerprint=facts.loaded.fingerprint,
            slots=facts.slots,
            slot_context=facts.slot_context,
            stopped_reason=None,
        )
        await self._record.note(self._recorded)
        return facts

    async def _warm_up(self, session: Session, maker: PromptMaker, context: int) -> None:
        """One request that is not counted: the first one after a start pays for much else.

        It also tells how long our words are, where the server does not count beforehand.
        """
        self._progress.state = "warming up"
        prompt = await maker.make(context)
        client = EndpointClient(session, measuring(self._endpoint, WARM_UP_TOKENS))
        answer = await client.ask([Message("user", prompt.text)])
        if answer.status is AnswerStatus.CANCELLED:
            raise asyncio.CancelledError  # asking gives back what it has instead of raising
        if prompt.tokens is None and answer.usage.prompt_tokens is not None:
            maker.learn(prompt, answer.usage.prompt_tokens)

    def _too_long(self, round_: Round, facts: EndpointFacts) -> list[Sample] | None:
        """A round that cannot fit is recorded, with both numbers, without being sent."""
        output = self._endpoint.max_tokens
        if facts.slot_context is None or round_.context + output <= facts.slot_context:
            return None
        detail = (
            f"not sent: a prompt of {round_.context} tokens and {output} to write need "
            f"{round_.context + output}, the context per slot has {facts.slot_context}"
        )
        now = datetime.now(UTC)
        status = AnswerStatus.CONTEXT_OVERFLOW
        return [
            Sample(stream, status, now, error_detail=detail)
            for stream in range(1, round_.concurrency + 1)
        ]

    async def _timed(
        self, client: EndpointClient, round_: Round, prompts: Sequence[Prompt]
    ) -> list[Sample]:
        async with self._telemetry.during(round_):
            wall, cpu = time.perf_counter(), time.process_time()
            samples = await ask_round(client, prompts)
            self._overhead.rounds_s += time.perf_counter() - wall
            self._overhead.cpu_s += time.process_time() - cpu
        return samples

    async def _refuse_another(self, session: Session, facts: EndpointFacts) -> None:
        """A round by another model or server is not recorded; who does not say proves nothing."""
        try:
            now = await inspect(session, self._endpoint)
        except EndpointError:
            return
        other = changed(Served.of_facts(facts), Served.of_facts(now))
        if other:
            raise EndpointError(
                f"endpoint {self._endpoint.name}: {other} changed during the sweep: it was "
                f"{Served.of_facts(facts)}, now it is {Served.of_facts(now)}; serve it as before "
                "and resume"
            )

    async def note_stopped(self, reason: str) -> None:
        """Write why the endpoint was given up."""
        detail = shorten(reason.removeprefix(f"endpoint {self._endpoint.name}: "))
        self._progress.state = f"stopped: {detail}"
        await self._record.note(replace(self._recorded, stopped_reason=detail))


def _in_one_word(samples: Sequence[Sample]) -> AnswerStatus:
    """How a round went: ok, or the first thing that went wrong in it.

    A stream that wrote all it was asked to is cut off on purpose.
    """
    wrong = (sample.status for sample in samples if sample.status not in MEASURED)
    return next(wrong, AnswerStatus.OK)
