"""Asks one endpoint and times the reply. Every way it can fail becomes a status."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import aiohttp

from evalbot.domain.answers import Answer, AnswerStatus, Retry, Usage
from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.chunks import Chunk, ServerTimings, read_chunk
from evalbot.endpoints.outcome import (
    Failure,
    Reading,
    clean_text,
    error_failure,
    read_complete,
    shorten,
)
from evalbot.endpoints.request import chat_body, chat_url, headers
from evalbot.endpoints.retrying import RetryPolicy
from evalbot.endpoints.sse import Event, EventReader
from evalbot.endpoints.timing import StreamClock, timing_of, visible_start

LONGEST_ERROR_BODY = 65_536
LONGEST_ANSWER = 64 * 1024 * 1024
LONGEST_CONNECT_S = 10.0
LONGEST_DRAIN_S = 1.0


def open_session(settings: EndpointSettings, connections: int) -> aiohttp.ClientSession:
    """A connection pool for one endpoint; close it when done."""
    timeout = aiohttp.ClientTimeout(
        total=None,
        sock_connect=min(LONGEST_CONNECT_S, settings.timeout_s),
        sock_read=settings.timeout_s,
    )
    connector = aiohttp.TCPConnector(limit=connections + 2)
    return aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers(settings))


@dataclass(slots=True)
class _Reply:
    """One reply while it arrives."""

    clock: StreamClock
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    length: int = 0
    received_bytes: int = 0
    finish_reason: str | None = None
    done: bool = False
    usage: Usage = field(default_factory=Usage)
    timings: ServerTimings | None = None

    def take(self, chunk: Chunk, at: float) -> None:
        if chunk.usage is not None:
            self.usage = chunk.usage
        if chunk.timings is not None:
            self.timings = chunk.timings
        if chunk.finish_reason is not None:
            self.finish_reason = chunk.finish_reason
        if chunk.reasoning:
            self.reasoning.append(chunk.reasoning)
            self.clock.token(at)
        if chunk.content:
            self.content.append(chunk.content)
            self.length += len(chunk.content)
            self.clock.token(at)
            self.clock.content(at, self.length)

    def counted(self) -> Usage:
        """The server's token counts, from its timings where it sent no usage."""
        usage, timings = self.usage, self.timings
        if timings is None:
            return usage
        prompt = usage.prompt_tokens
        if prompt is None and timings.prompt_n is not None:
            prompt = timings.prompt_n + (timings.cache_n or 0)
        cached, completion = usage.cached_tokens, usage.completion_tokens
        return Usage(
            prompt,
            timings.cache_n if cached is None else cached,
            timings.predicted_n if completion is None else completion,
        )


class EndpointClient:
    """One endpoint's chat route. `ask` never raises for a bad reply, and can be cancelled."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        settings: EndpointSettings,
        slot_context: int | None = None,
        slots: int | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._slot_context = slot_context
        self._slots = slots
        self._policy = policy or RetryPolicy(settings.retries)

    async def ask(
        self,
        messages: Sequence[Message],
        before_retry: Callable[[], Awaitable[None]] | None = None,
        on_text: Callable[[Chunk], None] | None = None,
    ) -> Answer:
        """One answer, after as many retries as the policy allows.

        before_retry is awaited before each further try; on_text sees each chunk as it
        comes. A cancelled call closes the connection, which frees the server's slot, and
        returns the answer so far with status `cancelled` instead of raising: what came
        is kept.
        """
        retries: list[Retry] = []
        while True:
            answer, failure = await self._try(messages, on_text)
            pause = None if failure is None else self._policy.pause(failure, retries)
            if failure is None or pause is None:
                return replace(answer, retries=tuple(retries))
            retries.append(Retry(failure.status, failure.detail, pause))
            try:
                await asyncio.sleep(pause)
                if before_retry is not None:
                    await before_retry()
            except asyncio.CancelledError:
                return replace(
                    answer,
                    status=AnswerStatus.CANCELLED,
                    error_detail="cancelled while waiting to try again",
                    retries=tuple(retries),
                )

    async def _try(
        self, messages: Sequence[Message], on_text: Callable[[Chunk], None] | None
    ) -> tuple[Answer, Failure | None]:
        started_at = datetime.now(UTC)
        reply = _Reply(StreamClock(sent=time.perf_counter()))
        failure: Failure | None
        try:
            failure = await self._stream(messages, reply, on_text)
        except asyncio.CancelledError:
            failure = Failure(AnswerStatus.CANCELLED, "cancelled")
        except (TimeoutError, aiohttp.ConnectionTimeoutError) as error:
            failure = self._timed_out(error)
        except (aiohttp.ClientError, OSError) as error:
            failure = _broken(error, reply)
        if failure is not None and reply.finish_reason is not None and _is_transport(failure):
            failure = None
        if failure is None and reply.finish_reason is None:
            failure = Failure(
                AnswerStatus.STREAM_BROKEN, "the stream ended without a finish_reason"
            )
        return self._answer(reply, failure, started_at), failure

    async def _stream(
        self,
        messages: Sequence[Message],
        reply: _Reply,
        on_text: Callable[[Chunk], None] | None,
    ) -> Failure | None:
        body = chat_body(self._settings, messages)
        async with self._session.post(chat_url(self._settings), json=body) as response:
            if response.status != 200:
                return await _http_failure(response)
            if response.content_type == "application/json":
                return _whole_reply(await response.read(), reply)
            reader = EventReader()
            async for data in response.content.iter_any():
                at = time.perf_counter()
                reply.received_bytes += len(data)
                for event in reader.feed(data):
                    failure = _take_event(event, reply, at, on_text)
                    if failure is not None:
                        return failure
                if reply.done:
                    await _drain(response)
                    return None
                if reply.received_bytes > LONGEST_ANSWER:
                    return Failure(
                        AnswerStatus.MALFORMED,
                        f"more than {LONGEST_ANSWER // 2**20} MiB received for one answer",
                    )
            return _take_rest(reader, reply, on_text)

    def _timed_out(self, error: BaseException) -> Failure:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Failure(AnswerStatus.CONNECTION, "no connection within the time allowed")
        seconds = f"{self._settings.timeout_s:g}"
        return Failure(AnswerStatus.TIMEOUT, f"nothing came for {seconds} s (timeout_s)")

    def _answer(self, reply: _Reply, failure: Failure | None, started_at: datetime) -> Answer:
        ended = reply.clock.last_event if failure is None else None
        raw = clean_text("".join(reply.content))
        reasoning = clean_text("".join(reply.reasoning))
        usage = reply.counted()
        reading = read_complete(
            raw,
            reasoning,
            reply.finish_reason,
            usage,
            reply.timings,
            self._slot_context,
            self._settings.max_tokens,
        )
        position = visible_start(raw, reading.text)
        visible_at = None if position is None else reply.clock.content_at(position)
        if failure is not None:
            reading = Reading(
                failure.status, reading.text, reading.reasoning, self._explain(failure)
            )
        return Answer(
            status=reading.status,
            text=reading.text,
            reasoning=reading.reasoning,
            raw=raw,
            started_at=started_at,
            finish_reason=reply.finish_reason,
            error_detail=reading.detail,
            usage=usage,
            timing=timing_of(
                reply.clock, ended or time.perf_counter(), visible_at, usage, reply.timings
            ),
        )

    def _explain(self, failure: Failure) -> str:
        if failure.shared_context and self._slots is not None and self._slots > 1:
            return f"{failure.detail} ({self._slots} slots share the server's context)"
        return failure.detail


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the last bytes of a finished stream, so that its connection can serve again."""
    with contextlib.suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(LONGEST_DRAIN_S):
            await response.content.read()


def _is_transport(failure: Failure) -> bool:
    """Whether a reply that had already finished is none the worse for it."""
    return failure.status in (
        AnswerStatus.TIMEOUT,
        AnswerStatus.CONNECTION,
        AnswerStatus.STREAM_BROKEN,
    )


async def _http_failure(response: aiohttp.ClientResponse) -> Failure:
    data = await response.content.read(LONGEST_ERROR_BODY)
    try:
        chunk = read_chunk(data)
        error = chunk.error if chunk.error is not None else data.decode("utf-8", "replace")
    except ValueError:
        error = data.decode("utf-8", "replace")
    failure = error_failure(error, response.status)
    return replace(failure, retry_after_s=RetryPolicy.asked_pause(response.headers))


def _whole_reply(data: bytes, reply: _Reply) -> Failure | None:
    """A server that does not stream: its text has no time of a first token."""
    try:
        chunk = read_chunk(data)
    except ValueError as error:
        return Failure(AnswerStatus.MALFORMED, shorten(f"the reply is no JSON object: {error}"))
    if chunk.error is not None:
        return error_failure(chunk.error)
    reply.usage = chunk.usage or reply.usage
    reply.timings = chunk.timings
    reply.finish_reason = chunk.finish_reason
    reply.content.append(chunk.content)
    reply.reasoning.append(chunk.reasoning)
    return None


def _take_event(
    event: Event, reply: _Reply, at: float, on_text: Callable[[Chunk], None] | None
) -> Failure | None:
    reply.clock.event(at)
    if event.data == b"[DONE]":
        reply.done = True
        return None
    try:
        chunk = read_chunk(event.data)
    except ValueError as error:
        if event.is_error:
            return error_failure(event.data.decode("utf-8", "replace"))
        start = event.data[:80].decode("utf-8", "replace")
        return Failure(AnswerStatus.MALFORMED, shorten(f"an event is no JSON ({error}): {start}"))
    if event.is_error and chunk.error is None:
        chunk = Chunk(error=json.loads(event.data))
    if chunk.error is not None:
        return error_failure(chunk.error)
    reply.take(chunk, at)
    if on_text is not None:
        on_text(chunk)
    return None


def _take_rest(
    reader: EventReader, reply: _Reply, on_text: Callable[[Chunk], None] | None
) -> Failure | None:
    """What stood at the end of the stream without its closing blank line."""
    last = reader.close()
    if last is not None:
        failure = _take_event(last, reply, time.perf_counter(), on_text)
        # Half an event is a broken stream, not a server that writes no JSON.
        if failure is not None and failure.status is not AnswerStatus.MALFORMED:
            return failure
    if reply.finish_reason is None and reply.clock.first_event is None and reader.foreign:
        start = reader.foreign[:80].decode("utf-8", "replace")
        return Failure(AnswerStatus.MALFORMED, shorten(f"the reply is no event stream: {start}"))
    return None


def _broken(error: Exception, reply: _Reply) -> Failure:
    words = shorten(str(error) or type(error).__name__)
    if reply.received_bytes:
        return Failure(AnswerStatus.STREAM_BROKEN, f"the connection broke: {words}")
    return Failure(AnswerStatus.CONNECTION, words)
