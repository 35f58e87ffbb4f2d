"""One endpoint's turn: look at it, ask it everything, see that its model stays the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evalbot.domain.answers import Answer, AnswerStatus, Place
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.runs import RecordedAnswer, Run, RunEndpoint
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import Session, open_session
from evalbot.endpoints.counting import tokens_too_many
from evalbot.endpoints.preflight import loaded_model
from evalbot.errors import EndpointError
from evalbot.formats.received import shorten
from evalbot.running.commands import ServerProcess
from evalbot.running.places import ToAsk
from evalbot.running.progress import EndpointProgress
from evalbot.running.recorder import Recorder
from evalbot.running.self_check import SELF_CHECK, check_conversation
from evalbot.running.serving import look_at
from evalbot.running.together import finish

UNKNOWN_SLOTS = 4
"""Requests at once to a server that does not tell its slots."""

MODEL_CHECK_S = 10.0
GONE_AFTER = 8
"""Connection errors in a row after which an endpoint is taken to be gone."""


class ModelChangedError(EndpointError):
    """The server holds another model than when the run began."""


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """What one endpoint's turn needs to know of its run.

    text_at: the answer on record at a place, to be checked by the model that gave it.
    """

    run: Run
    endpoint: EndpointSettings
    recorded: RunEndpoint
    concurrency: int | None
    note_endpoint: Callable[[RunEndpoint], Awaitable[None]]
    text_at: Callable[[Place], Awaitable[str]]
    model_check_s: float = MODEL_CHECK_S


class Turn:
    """Asks one endpoint. Whatever happens to it, its places end in the record or stay open."""

    def __init__(
        self, settings: TurnSettings, recorder: Recorder[RecordedAnswer], progress: EndpointProgress
    ) -> None:
        self._settings = settings
        self._endpoint = settings.endpoint
        self._recorder = recorder
        self._progress = progress
        self._recorded = settings.recorded
        self._broken_in_a_row = 0
        self._gone: str | None = None
        self._changed: str | None = None
        self._verified = 0
        self._unverified: list[ToAsk] = []
        self._overflows: dict[str, int | None] = {}

    async def ask_all(self, places: Iterator[ToAsk], server: ServerProcess | None) -> bool:
        """Ask every place; False where the endpoint was stopped before the end.

        server: what is to be started for this turn, with nobody at its address before.
        """
        async with open_session(self._endpoint) as session:
            self._progress.state = "looking"
            try:
                facts = await self._look(session, server)
            except ModelChangedError as error:
                await self._stop(str(error))
                return False
            except EndpointError as error:
                await self.give_up(places, str(error), AnswerStatus(error.status))
                return True
            self._progress.warnings.extend(facts.warnings)
            count = self._concurrency(facts)
            self._recorded = replace(
                self._recorded,
                family=facts.loaded.family,
                quantisation=facts.loaded.quantisation,
                model_id=facts.loaded.id,
                model_fingerprint=facts.loaded.fingerprint,
                slots=facts.slots,
                slot_context=facts.slot_context,
                concurrency=count,
                stopped_reason=None,
            )
            await self._settings.note_endpoint(self._recorded)
            self._progress.state = "asking"
            await self._work(session, facts, places, count)
            if self._changed is not None:
                await self._stop(self._changed)
                return False
            if self._gone is not None:
                await self.give_up(places, self._gone, AnswerStatus.CONNECTION)
            self._progress.state = "done"
            return True

    async def give_up(self, places: Iterator[ToAsk], reason: str, status: AnswerStatus) -> None:
        """Record every place left as failed, with the reason, without asking."""
        detail = shorten(reason.removeprefix(f"endpoint {self._endpoint.name}: "))
        self._progress.state = detail
        now = datetime.now(UTC)
        for place in places:
            await self._record(place, Answer(status, "", "", "", now, error_detail=detail))

    async def _look(self, session: Session, server: ServerProcess | None) -> EndpointFacts:
        def starting() -> None:
            self._progress.state = "starting"

        facts = await look_at(session, self._endpoint, server, starting)
        before = self._recorded.model_fingerprint
        if before is not None and before != facts.loaded.fingerprint:
            raise ModelChangedError(
                f"the loaded model changed since the run began: it was "
                f"{self._recorded.model_id}, now it is {facts.loaded.id}; load the first one "
                "again, or start a new run"
            )
        return facts

    def _concurrency(self, facts: EndpointFacts) -> int:
        return (
            self._settings.concurrency or self._endpoint.concurrency or facts.slots or UNKNOWN_SLOTS
        )

    async def _work(
        self,
        session: Session,
        facts: EndpointFacts,
        places: Iterator[ToAsk],
        count: int,
    ) -> None:
        client = EndpointClient(session, self._endpoint, facts.slot_context, facts.slots)
        count = min(count, self._progress.total)
        workers = [
            asyncio.create_task(self._worker(session, client, facts, places)) for _ in range(count)
        ]
        watch = asyncio.create_task(self._watch(session, facts, workers))
        try:
            await finish(workers)
        finally:
            watch.cancel()
            await asyncio.wait([watch])
        if self._changed is None:
            await self._verify(session, facts)
        if self._changed is not None:
            await self._disown()

    async def _worker(
        self,
        session: Session,
        client: EndpointClient,
        facts: EndpointFacts,
        places: Iterator[ToAsk],
    ) -> None:
        async def before_retry() -> None:
            await self._verify(session, facts)

        for place in places:
            text = None
            if place.place.pass_ == 2:
                text = await self._settings.text_at(place.place._replace(pass_=1))
            answer = await self._ask(session, client, facts, place, text, before_retry)
            if not await self._keep(place, answer):
                return
            if place.check_attempt is None:
                continue
            if answer.status is not AnswerStatus.OK:
                self._progress.total -= 1  # there is nothing to be checked
                continue
            check = await self._ask(session, client, facts, place.check, answer.text, before_retry)
            if not await self._keep(place.check, check):
                return

    async def _keep(self, place: ToAsk, answer: Answer) -> bool:
        """Record an answer; whether the next one may be asked for."""
        if answer.status is not AnswerStatus.CANCELLED:
            self._unverified.append(place)
        await self._record(place, answer)
        if answer.status is AnswerStatus.CANCELLED:
            return False
        self._count_broken(answer)
        return self._changed is None and self._gone is None

    async def _ask(
        self,
        session: Session,
        client: EndpointClient,
        facts: EndpointFacts,
        place: ToAsk,
        to_check: str | None,
        before_retry: Callable[[], Awaitable[None]],
    ) -> Answer:
        """to_check: the model's own answer, where it is asked to check it."""
        run = self._settings.run
        messages = run.suite.conversation(place.case)
        if to_check is not None:
            messages = check_conversation(messages, to_check, run.settings[SELF_CHECK])
            tokens = await tokens_too_many(session, self._endpoint, facts, messages)
        elif place.case.key in self._overflows:
            tokens = self._overflows[place.case.key]
        else:
            tokens = await tokens_too_many(session, self._endpoint, facts, messages)
            self._overflows[place.case.key] = tokens
        if tokens is None:
            return await client.ask(messages, before_retry)
        return Answer(
            AnswerStatus.CONTEXT_OVERFLOW,
            "",
            "",
            "",
            datetime.now(UTC),
            error_detail=f"not sent: the prompt has {tokens} tokens, the context per slot "
            f"{facts.slot_context}",
        )

    def _count_broken(self, answer: Answer) -> None:
        if answer.status is not AnswerStatus.CONNECTION:
            self._broken_in_a_row = 0
            return
        self._broken_in_a_row += 1
        if self._broken_in_a_row >= GONE_AFTER:
            self._gone = (
                f"the server was not reachable {self._broken_in_a_row} times in a row "
                f"({answer.error_detail}); the rest was not asked"
            )

    async def _record(self, place: ToAsk, answer: Answer) -> None:
        self._progress.answered(answer.status)
        await self._recorder.record(self._as_recorded(place, answer, place.attempt))

    def _as_recorded(self, place: ToAsk, answer: Answer, attempt: int) -> RecordedAnswer:
        return RecordedAnswer(
            place=place.place,
            attempt=attempt,
            answer=answer,
            question_fingerprint=self._settings.run.questions[place.case.key],
            model_fingerprint=self._recorded.model_fingerprint,
        )

    async def _watch(
        self,
        session: Session,
        facts: EndpointFacts,
        workers: list[asyncio.Task[None]],
    ) -> None:
        while self._changed is None:
            await asyncio.sleep(self._settings.model_check_s)
            await self._verify(session, facts)
        for worker in workers:
            worker.cancel()

    async def _verify(self, session: Session, facts: EndpointFacts) -> None:
        """See that the model is still the same; a server that does not answer proves nothing.

        Several may look at once: each look clears the answers that were there when it began.
        """
        answered = self._verified + len(self._unverified)
        try:
            now = await loaded_model(session, self._endpoint)
        except EndpointError:
            return
        if now.fingerprint == facts.loaded.fingerprint:
            cleared = max(0, answered - self._verified)
            del self._unverified[:cleared]
            self._verified += cleared
        else:
            self._changed = (
                f"the loaded model changed during the run: it was {facts.loaded.id}, "
                f"now it is {now.id}; load the first one again and resume, or start a new run"
            )

    async def _disown(self) -> None:
        """Nobody knows which model gave the answers since the last look: ask those again."""
        for place in self._unverified:
            disowned = Answer(
                AnswerStatus.CANCELLED,
                "",
                "",
                "",
                datetime.now(UTC),
                error_detail=shorten(f"{self._changed} (attempt {place.attempt} may be by either)"),
            )
            await self._recorder.record(self._as_recorded(place, disowned, place.attempt + 1))

    async def _stop(self, reason: str) -> None:
        self._progress.state = f"stopped: {reason}"
        await self._settings.note_endpoint(replace(self._recorded, stopped_reason=reason))
