"""Asks one endpoint and times the reply. Every way it can fail becomes a status."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import aiohttp

from evalbot.domain.answers import Answer, AnswerStatus, Retry
from evalbot.domain.cases import Message
from evalbot.domain.settings import EndpointSettings
from evalbot.endpoints.chunks import Chunk, read_chunk
from evalbot.endpoints.outcome import Failure, Reading, error_failure, read_complete
from evalbot.endpoints.reply import Reply
from evalbot.endpoints.request import chat_body, chat_url, without_key
from evalbot.endpoints.retrying import RetryPolicy
from evalbot.endpoints.timing import StreamClock, timing_of, visible_start
from evalbot.endpoints.words import error_words
from evalbot.formats.received import clean_text

LONGEST_ERROR_BODY = 65_536
LONGEST_EPILOGUE_S = 5.0
"""What may come after the finish_reason, and how long it is waited for."""


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
        on_text: Callable[[Chunk, float], None] | None = None,
    ) -> Answer:
        """One answer, after as many retries as the policy allows.

        before_retry is awaited before each further try; on_text sees each chunk as it
        comes, and the clock's time then. A cancelled call closes the connection, which frees
        the server's slot, and returns the answer so far with status `cancelled` instead of
        raising: what came is kept.
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
        self, messages: Sequence[Message], on_text: Callable[[Chunk, float], None] | None
    ) -> tuple[Answer, Failure | None]:
        started_at = datetime.now(UTC)
        reply = Reply(StreamClock(sent=time.perf_counter()), on_text)
        failure: Failure | None
        try:
            failure = await self._stream(messages, reply)
        except asyncio.CancelledError:
            failure = Failure(AnswerStatus.CANCELLED, "cancelled")
        except (TimeoutError, aiohttp.ConnectionTimeoutError) as error:
            failure = self._timed_out(error)
        except (aiohttp.ClientError, OSError) as error:
            failure = _broken(error, reply)
        if failure is not None and reply.is_complete and _is_harmless(failure):
            failure = None
        if failure is None and reply.finish_reason is None:
            failure = Failure(
                AnswerStatus.STREAM_BROKEN, "the stream ended without a finish_reason"
            )
        return self._answer(reply, failure, started_at), failure

    async def _stream(self, messages: Sequence[Message], reply: Reply) -> Failure | None:
        body = chat_body(self._settings, messages)
        async with self._session.post(chat_url(self._settings), json=body) as response:
            if response.status != 200:
                return await _http_failure(response)
            reply.begun = True
            async with asyncio.timeout(None) as epilogue:
                # To the very end, which lets the connection serve again.
                async for data in response.content.iter_any():
                    failure = reply.feed(data)
                    if failure is not None:
                        return failure
                    if reply.is_complete and epilogue.when() is None:
                        epilogue.reschedule(asyncio.get_running_loop().time() + LONGEST_EPILOGUE_S)
            return reply.close()

    def _timed_out(self, error: BaseException) -> Failure:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Failure(AnswerStatus.CONNECTION, "no connection within the time allowed")
        seconds = f"{self._settings.timeout_s:g}"
        return Failure(AnswerStatus.TIMEOUT, f"nothing came for {seconds} s (timeout_s)")

    def _answer(self, reply: Reply, failure: Failure | None, started_at: datetime) -> Answer:
        ended = reply.clock.last_event if failure is None else None
        raw = self._kept(clean_text("".join(reply.content)))
        reasoning = self._kept(clean_text("".join(reply.reasoning)))
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
                failure.status,
                reading.text,
                reading.reasoning,
                self._kept(self._explain(failure)),
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

    def _kept(self, text: str) -> str:
        return without_key(text, self._settings)

    def _explain(self, failure: Failure) -> str:
        if failure.shared_context and self._slots is not None and self._slots > 1:
            return f"{failure.detail} ({self._slots} slots share the server's context)"
        return failure.detail


def _is_harmless(failure: Failure) -> bool:
    """Whether a reply that is complete is none the worse for it."""
    return failure.status in (
        AnswerStatus.TIMEOUT,
        AnswerStatus.CONNECTION,
        AnswerStatus.STREAM_BROKEN,
        AnswerStatus.MALFORMED,
    )


async def _http_failure(response: aiohttp.ClientResponse) -> Failure:
    data = await _error_body(response)
    try:
        chunk = read_chunk(data)
        error = chunk.error if chunk.error is not None else data.decode("utf-8", "replace")
    except ValueError:
        error = data.decode("utf-8", "replace")
    failure = error_failure(error, response.status)
    return replace(failure, retry_after_s=RetryPolicy.asked_pause(response.headers))


async def _error_body(response: aiohttp.ClientResponse) -> bytes:
    """The body of an error reply, or as much of it as comes."""
    data = b""
    with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(LONGEST_EPILOGUE_S):
            async for part in response.content.iter_any():
                data += part
                if len(data) >= LONGEST_ERROR_BODY:
                    break
    return data


def _broken(error: Exception, reply: Reply) -> Failure:
    words = error_words(error)
    if reply.begun:
        return Failure(AnswerStatus.STREAM_BROKEN, f"the connection broke: {words}")
    return Failure(AnswerStatus.CONNECTION, words)
