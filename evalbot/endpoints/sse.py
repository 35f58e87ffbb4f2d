"""Server-sent events from a byte stream, as model servers really send them."""

from __future__ import annotations

from typing import NamedTuple

BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event's data, still as bytes; is_error marks an `error:` field or `event: error`."""

    data: bytes
    is_error: bool = False


class EventReader:
    """Cuts a byte stream into events, however the network has cut the bytes.

    Follows the WHATWG rules for lines, comments and multi-line data, and takes three
    things servers send beside them: a field named `error`, a bare JSON line, and, from
    those that do not stream, one JSON value as the whole body. Blank data is no event.
    is_body tells that a reply is one such value; `foreign` keeps the first line that belongs
    to no event stream at all.
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._is_error = False
        self._started = False
        self.is_body = False
        self.foreign: bytes | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """The events completed by these bytes."""
        if not chunk:
            return []
        if self.is_body:
            self._tail.append(chunk)
            return []
        if b"\n" not in chunk and b"\r" not in chunk and not self._ends_in_return():
            self._tail.append(chunk)
            return []
        lines = b"".join((*self._tail, chunk)).splitlines(keepends=True)
        # A last "\r" may be half of "\r\n": it waits for the next bytes.
        self._tail = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        events: list[Event] = []
        for index, line in enumerate(lines):
            if self._begins_body(line):
                self._tail = [*lines[index:], *self._tail]
                break
            events.extend(self._take(line.rstrip(b"\r\n")))
        return events

    def close(self) -> list[Event]:
        """What stood unfinished when the stream ended."""
        tail = b"".join(self._tail)
        self._tail = []
        if self.is_body or self._begins_body(tail):
            return [Event(tail)]
        rest = self._take(tail.rstrip(b"\r")) if tail else []
        return [*rest, *self._dispatch()]

    def _ends_in_return(self) -> bool:
        return bool(self._tail) and self._tail[-1].endswith(b"\r")

    def _begins_body(self, line: bytes) -> bool:
        """Whether the reply is one JSON value: its first character that is not blank tells."""
        if not self._started:
            self.is_body = line.removeprefix(BOM).lstrip().startswith(b"{")
        return self.is_body

    def _take(self, line: bytes) -> list[Event]:
        if not self._started:
            self._started = bool(line.strip())
            line = line.removeprefix(BOM)
        if not line.strip():
            return self._dispatch()
        if line.startswith(b"{"):
            return [*self._dispatch(), Event(line)]
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"error":
            before = self._dispatch()
            self._data, self._is_error = [value], True
            return before
        elif name == b"event":
            self._is_error = value.strip() == b"error"
        elif name not in (b"", b"id", b"retry") and self.foreign is None:
            self.foreign = line
        return []

    def _dispatch(self) -> list[Event]:
        data, is_error = b"\n".join(self._data), self._is_error
        self._data, self._is_error = [], False
        return [Event(data, is_error)] if data.strip() else []
