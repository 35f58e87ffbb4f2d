"""One reply while it arrives: its events, put together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evalbot.domain.answers import AnswerStatus, Usage
from evalbot.endpoints.chunks import Chunk, ServerTimings, read_chunk, read_json
from evalbot.endpoints.outcome import Failure, error_failure
from evalbot.endpoints.sse import Event, EventReader
from evalbot.endpoints.timing import StreamClock
from evalbot.formats.received import shorten

LONGEST_ANSWER = 64 * 1024 * 1024


@dataclass(slots=True)
class Reply:
    """What has come so far. `begun`: the server took the request; `done`: `[DONE]` was seen.

    on_text is given each chunk, and when the network brought it.
    """

    clock: StreamClock
    on_text: Callable[[Chunk, float], None] | None = None
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    timings: ServerTimings | None = None
    begun: bool = False
    done: bool = False
    _length: int = 0
    _bytes: int = 0
    _events: EventReader = field(default_factory=EventReader)

    def feed(self, data: bytes) -> Failure | None:
        """Take what came from the network just now."""
        at = time.perf_counter()
        self._bytes += len(data)
        if self._bytes > LONGEST_ANSWER:
            return Failure(
                AnswerStatus.MALFORMED,
                f"more than {LONGEST_ANSWER // 2**20} MiB received for one answer",
            )
        return None if self.done else self._take_all(self._events.feed(data), at)

    def close(self) -> Failure | None:
        """The stream has ended: take what stood there without its closing blank line."""
        if self.done:
            return None
        events = self._events
        failure = self._take_all(events.close(), time.perf_counter())
        # Half an event is a broken stream, not a server that writes no JSON.
        if failure is not None and (events.is_body or failure.status is not AnswerStatus.MALFORMED):
            return failure
        if self.finish_reason is None and self.clock.first_event is None and events.foreign:
            start = events.foreign[:80].decode("utf-8", "replace")
            return Failure(AnswerStatus.MALFORMED, shorten(f"no event stream came: {start}"))
        return None

    @property
    def is_complete(self) -> bool:
        """Whether nothing more is needed of it."""
        return self.done or self.finish_reason is not None

    def counted(self) -> Usage:
        """The server's token counts, from its timings where it sent no usage."""
        usage, timings = self.usage, self.timings
        if timings is None:
            return usage
        prompt = usage.prompt_tokens
        if prompt is None and timings.prompt_n is not None:
            prompt = timings.prompt_n + (timings.cache_n or 0)
        cached, completion = usage.cached_tokens, usage.completion_tokens
        told = [count for count in (cached, timings.cache_n) if count is not None]
        return Usage(
            prompt,
            max(told, default=None),
            timings.predicted_n if completion is None else completion,
        )

    def _take_all(self, events: Iterable[Event], at: float) -> Failure | None:
        """The first failure among these events; what comes after `[DONE]` is not looked at."""
        for event in events:
            self.clock.event(at)
            if event.data.strip() == b"[DONE]":
                self.done = True
                return None
            failure = self._take(event, at)
            if failure is not None:
                return failure
        return None

    def _take(self, event: Event, at: float) -> Failure | None:
        try:
            chunk = read_chunk(event.data)
        except ValueError as error:
            if event.is_error:
                return error_failure(event.data.decode("utf-8", "replace"))
            start = event.data[:80].decode("utf-8", "replace")
            return Failure(
                AnswerStatus.MALFORMED, shorten(f"an event is no JSON ({error}): {start}")
            )
        if chunk.error is not None:
            return error_failure(chunk.error)
        if event.is_error:
            return error_failure(read_json(event.data))
        self._add(chunk, at)
        if self.on_text is not None:
            self.on_text(chunk, at)
        return None

    def _add(self, chunk: Chunk, at: float) -> None:
        self.usage = chunk.usage or self.usage
        self.timings = chunk.timings or self.timings
        self.finish_reason = chunk.finish_reason or self.finish_reason
        if chunk.reasoning:
            self.reasoning.append(chunk.reasoning)
        if chunk.content:
            self.content.append(chunk.content)
            self._length += len(chunk.content)
        if chunk.is_whole:
            return  # nobody saw when its tokens came
        if chunk.reasoning or chunk.content:
            self.clock.token(at)
        if chunk.content:
            self.clock.content(at, self._length)
