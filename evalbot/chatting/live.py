"""One endpoint's answer while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from evalbot.domain.answers import Answer, AnswerStatus
from evalbot.domain.cases import Message
from evalbot.domain.chats import ChatAnswer
from evalbot.domain.endpoints import EndpointFacts
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.chunks import Chunk
from evalbot.endpoints.client import EndpointClient
from evalbot.endpoints.connections import Session, open_session
from evalbot.endpoints.counting import tokens_too_many
from evalbot.errors import EndpointError
from evalbot.formats.received import shorten
from evalbot.running.serving import look_at
from evalbot.scoring.thinking import split_thinking

LONGEST_SHOWN = 20_000
"""Characters of an answer that are shown while it comes; the end of it is what moves."""

NOT_STARTED = "; chat does not run start commands: start the server by yourself"


class Stage(StrEnum):
    """How far an endpoint has come with its answer."""

    WAITING = "waiting"
    LOOKING = "looking"
    READING = "reading"
    THINKING = "thinking"
    WRITING = "writing"
    RETRYING = "retrying"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Column:
    """What is to be seen of one endpoint at a moment; answer: once it is there."""

    endpoint: str
    stage: Stage
    text: str
    thought: int
    answer: ChatAnswer | None


class LiveAnswer:
    """Asks one endpoint. Whatever happens to it, there is an answer in the end."""

    def __init__(
        self,
        endpoint: EndpointSettings,
        messages: Sequence[Message],
        lane: asyncio.Lock,
        changed: Callable[[], None],
    ) -> None:
        self._endpoint = endpoint
        self._messages = messages
        self._lane = lane
        self._changed = changed
        self._stage = Stage.WAITING
        self._content: list[str] = []
        self._thought = 0
        self._came: Answer | None = None
        self._facts: EndpointFacts | None = None
        self.name = endpoint.name
        self.answer: ChatAnswer | None = None

    def column(self) -> Column:
        """How it stands now."""
        text, thought = "".join(self._content), self._thought
        if len(text) > LONGEST_SHOWN:
            text = "…" + text[-LONGEST_SHOWN:]
        else:
            split = split_thinking(text)
            text, thought = split.text, thought + len(split.reasoning)
        return Column(self.name, self._stage, text, thought, self.answer)

    async def ask(self) -> ChatAnswer:
        """The answer; when cancelled, what had come until then."""
        try:
            async with self._lane:
                answer = await self._ask()
        except asyncio.CancelledError:
            return self._given_up()
        except EndpointError as error:
            words = str(error).removeprefix(f"endpoint {self.name}: ")
            hint = NOT_STARTED if self._endpoint.start else ""
            answer = _without_text(AnswerStatus(error.status), shorten(words) + hint)
        return self._done(answer)

    def in_the_end(self) -> ChatAnswer:
        """The answer, or what there is of it where nobody waits for it any more."""
        return self.answer or self._given_up()

    def _given_up(self) -> ChatAnswer:
        nothing = _without_text(AnswerStatus.CANCELLED, "stopped before anything came")
        return self._done(self._came or nothing)

    async def _ask(self) -> Answer:
        self._move(Stage.LOOKING)
        async with open_session(self._endpoint) as session:
            facts = await look_at(session, self._endpoint, None, lambda: None)
            self._facts = facts
            tokens = await tokens_too_many(session, self._endpoint, facts, self._messages)
            if tokens is not None:
                return _without_text(
                    AnswerStatus.CONTEXT_OVERFLOW,
                    f"not sent: the chat has {tokens} tokens, the context per slot "
                    f"{facts.slot_context}",
                )
            return await self._stream(session, facts)

    async def _stream(self, session: Session, facts: EndpointFacts) -> Answer:
        async def before_retry() -> None:
            self._content.clear()
            self._thought = 0
            self._move(Stage.RETRYING)

        self._move(Stage.READING)
        client = EndpointClient(session, self._endpoint, facts.slot_context, facts.slots)
        # Kept before the connection is closed: we may be cancelled once more meanwhile.
        self._came = await client.ask(self._messages, before_retry, self._take)
        return self._came

    def _take(self, chunk: Chunk, _at: float) -> None:
        if chunk.reasoning:
            self._thought += len(chunk.reasoning)
            self._move(Stage.THINKING)
        if chunk.content:
            self._content.append(chunk.content)
            self._move(Stage.WRITING)

    def _move(self, stage: Stage) -> None:
        self._stage = stage
        self._changed()

    def _done(self, answer: Answer) -> ChatAnswer:
        loaded = None if self._facts is None else self._facts.loaded
        self.answer = ChatAnswer(
            endpoint=self.name,
            answer=answer,
            settings=self._endpoint.answer_settings(),
            model_id=None if loaded is None else loaded.id,
            model_fingerprint=None if loaded is None else loaded.fingerprint,
        )
        self._move(Stage.DONE)
        return self.answer


def with_sampling(endpoint: EndpointSettings, sampling: Mapping[str, Any]) -> EndpointSettings:
    """The endpoint asked with a chat's own sampling, which goes over its own."""
    return replace(endpoint, sampling={**endpoint.sampling, **sampling})


def _without_text(status: AnswerStatus, detail: str) -> Answer:
    return Answer(status, "", "", "", datetime.now(UTC), error_detail=detail)
