"""Server-sent events from a byte stream, as model servers really send them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One event's data, still as bytes; is_error marks llama.cpp's `error:` field."""

    data: bytes
    is_error: bool = False


class EventReader:
    """Cuts a byte stream into events, however the network has cut the bytes.

    Follows the WHATWG rules for lines, comments and multi-line data, and takes two
    things servers send beside them: a field named `error`, and a bare JSON line.
    `foreign` keeps the first line that belongs to no event stream at all.
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._is_error = False
        self._started = False
        self.foreign: bytes | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """The events completed by these bytes."""
        if b"\n" not in chunk and b"\r" not in chunk and not self._ends_in_return():
            self._tail.append(chunk)
            return []
        lines = b"".join((*self._tail, chunk)).splitlines(keepends=True)
        # A last "\r" may be half of "\r\n": it waits for the next bytes.
        self._tail = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        events: list[Event] = []
        for line in lines:
            event = self._take(line.rstrip(b"\r\n"))
            if event is not None:
                events.append(event)
        return events

    def close(self) -> Event | None:
        """What stood unfinished when the stream ended, if anything."""
        tail = b"".join(self._tail).rstrip(b"\r")
        self._tail = []
        if tail:
            finished = self._take(tail)
            if finished is not None:
                return finished
        return self._dispatch()

    def _ends_in_return(self) -> bool:
        return bool(self._tail) and self._tail[-1].endswith(b"\r")

    def _take(self, line: bytes) -> Event | None:
        if not self._started:
            self._started = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        if line.startswith(b"{"):
            return Event(line)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"error":
            self._data.append(value)
            self._is_error = True
        elif name not in (b"", b"event", b"id", b"retry") and self.foreign is None:
            self.foreign = line
        return None

    def _dispatch(self) -> Event | None:
        if not self._data:
            return None
        event = Event(b"\n".join(self._data), self._is_error)
        self._data, self._is_error = [], False
        return event
