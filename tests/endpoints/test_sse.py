from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.endpoints.sse import Event, EventReader

from .asking import RECORDED


def events(*pieces: bytes) -> list[Event]:
    reader = EventReader()
    came = [event for piece in pieces for event in reader.feed(piece)]
    return came + reader.close()


def data_of(*pieces: bytes) -> list[bytes]:
    return [event.data for event in events(*pieces)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a:b\n\n", [b"a:b"]),
        (b": ping\n\ndata: a\n\n: ping\n\n", [b"a"]),
        (b"id: 7\nretry: 10\nevent: message\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"\n\r\n\ndata: a\n\n", [b"a"]),
        (b"data: a", [b"a"]),
        (b"data: a\r", [b"a"]),
        (b"data: a\n", [b"a"]),
        (b"data:\n\ndata\n\ndata:  \n\ndata: a\n\n", [b"a"]),
        ("data: 青\u2028\u0085\x0b\n\n".encode(), ["青\u2028\u0085\x0b".encode()]),
        (b'data: a\n\n{"error": 1}\n', [b"a", b'{"error": 1}']),
        (b'data: a\n{"error": 1}\n', [b"a", b'{"error": 1}']),
        (b'{"error":\n  1}\n', [b'{"error":\n  1}\n']),
        (b'\r\n  {"error": 1}', [b'  {"error": 1}']),
        (b'\xef\xbb\xbf{"error": 1}', [b'\xef\xbb\xbf{"error": 1}']),
        (b"", []),
        (b"\n\n", []),
        (b"<html>\n</html>\n", []),
    ],
)
def test_a_stream_is_cut_into_events(stream: bytes, expected: list[bytes]) -> None:
    assert data_of(stream) == expected
    assert data_of(*(stream[i : i + 1] for i in range(len(stream)))) == expected


@pytest.mark.parametrize(
    ("stream", "flags"),
    [
        (b'data: a\n\nerror: {"code":400}\n\ndata: b\n\n', [False, True, False]),
        (b'data: a\nerror: {"code":400}\n\n', [False, True]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [True, False]),
        (b"event: error\n\ndata: b\n\n", [False]),
    ],
)
def test_error_events_are_marked(stream: bytes, flags: list[bool]) -> None:
    assert [event.is_error for event in events(stream)] == flags


def test_the_first_line_that_is_no_field_is_kept() -> None:
    reader = EventReader()
    reader.feed(b"<!doctype html>\n<p>\n")
    assert reader.foreign == b"<!doctype html>"


def test_an_event_is_there_as_soon_as_its_last_byte() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\n") == []
    assert reader.feed(b"\n") == [Event(b"a")]


PIECES = st.sampled_from(
    [
        b"data: ", b"data:", b"a", "青".encode(), b"\n", b"\r\n", b"\r", b"\n\n", b"error: x",
        b": ping", b"event: error", b"{", b'{"a":1}', b"\xef\xbb\xbf", b" ", b"[DONE]", b"\x00",
    ]
)  # fmt: skip


@given(st.data(), st.lists(PIECES, max_size=30))
def test_however_the_bytes_are_cut_the_events_are_the_same(
    data: st.DataObject, pieces: list[bytes]
) -> None:
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    bounds = [0, *cuts, len(stream)]
    parts = [stream[a:b] for a, b in pairwise(bounds)]
    assert events(*parts) == events(stream)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_fault(stream: bytes) -> None:
    events(stream)


@pytest.mark.parametrize("name", ["chat_stream.sse", "chat_stream_no_usage.sse"])
def test_recorded_streams_end_with_done(name: str) -> None:
    stream = (RECORDED / name).read_bytes()
    assert data_of(stream)[-1] == b"[DONE]"
    assert data_of(*(stream[i : i + 1] for i in range(len(stream)))) == data_of(stream)
