"""Every way a server can fail, and the status it ends in."""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple

import pytest

from evalbot.domain.answers import AnswerStatus as S
from tests.fault_server import (
    DONE,
    OVERFLOW,
    ROLE,
    SHARED_OVERFLOW,
    FaultServer,
    Reply,
    Step,
    answer,
    chunk,
    closed_port,
    event,
    failing,
    plain,
    raw_server,
    stream,
    usage,
)

from .asking import QUICK, ask

STOP = chunk(finish="stop")
LENGTH = chunk(finish="length")
HALF = chunk("部分")
EMOJI = "😀".encode()
PAGE = b"<!doctype html>\n<html><body>Bad gateway</body></html>\n"
HTML = Reply((PAGE,), content_type="text/html")


class Fault(NamedTuple):
    name: str
    reply: Reply
    status: S
    detail: str = ""
    text: str = ""


TABLE = [
    # Good answers, however they are sent.
    Fault("plain good answer", answer("会议", "在"), S.OK, text="会议在"),
    Fault("no [DONE]", stream(ROLE, chunk("好"), STOP), S.OK, text="好"),
    Fault("no usage", stream(chunk("好"), STOP, DONE), S.OK, text="好"),
    Fault("text in the finishing chunk", stream(chunk("好", finish="stop"), DONE), S.OK, text="好"),
    Fault("comment lines", stream(b": ping\n\n", chunk("好"), b": ping\n\n", STOP, DONE), S.OK,
          text="好"),
    Fault("CRLF line ends", stream(*(part.replace(b"\n", b"\r\n") for part in (HALF, STOP, DONE))),
          S.OK, text="部分"),
    Fault("no last blank line", stream(chunk("好"), STOP.rstrip()), S.OK, text="好"),
    Fault("whole JSON reply",
          plain({"choices": [{"message": {"content": "好"}, "finish_reason": "stop"}]}),
          S.OK, text="好"),
    Fault("whole JSON reply called text, on several lines",
          Reply((json.dumps({"choices": [{"message": {"content": "好"}, "finish_reason": "stop"}]},
                            indent=1).encode(),), content_type="text/plain"), S.OK, text="好"),
    Fault("stream called JSON", stream(chunk("好"), STOP, DONE, content_type="application/json"),
          S.OK, text="好"),
    Fault("emoji in halves", stream(chunk("\ud83d"), chunk("\ude00"), STOP, DONE), S.OK, text="😀"),
    Fault("lone half", stream(chunk("a\ud83d"), STOP, DONE), S.OK, text="a\ufffd"),
    Fault("NUL", stream(chunk("a\x00b"), STOP, DONE), S.OK, text="a\ufffdb"),
    Fault("thinking in tags", answer("<think>a</think>", "b"), S.OK, text="b"),
    Fault("thinking closed only", answer("a</think>", "b"), S.OK, text="b"),
    Fault("another choice beside it",
          stream(event({"choices": [{"index": 1, "delta": {"content": "x"}}]}), chunk("好"), STOP),
          S.OK, text="好"),
    Fault("broken after the finish", stream(chunk("好"), STOP, Step.BREAK), S.OK, text="好"),
    Fault("silent after the finish", stream(chunk("好"), STOP, Step.HANG), S.OK, text="好"),
    Fault("silent after [DONE]", stream(chunk("好"), STOP, DONE, Step.HANG), S.OK, text="好"),
    Fault("garbage after the finish", stream(chunk("好"), STOP, b"data: {\n\n"), S.OK, text="好"),
    Fault("garbage after [DONE]", stream(chunk("好"), STOP, DONE, b"data: {\n\n"), S.OK, text="好"),
    # Answers that are none, or not whole.
    Fault("empty", stream(ROLE, STOP, DONE), S.EMPTY),
    Fault("content null", stream(ROLE, ROLE, STOP, DONE), S.EMPTY),
    Fault("white space", answer(" ", "\n"), S.EMPTY, text=" \n"),
    Fault("reasoning only, stop", stream(chunk(reasoning="想"), STOP, DONE), S.EMPTY,
          "only reasoning"),
    Fault("reasoning only, length", stream(chunk("", reasoning="想"), LENGTH, DONE),
          S.NO_ANSWER_BUDGET, "reasoning used the token budget"),
    Fault("thinking never closed", answer("<think>a"), S.THINKING_UNCLOSED, "never closed"),
    Fault("thinking cut", answer("<think>a", finish="length"), S.NO_ANSWER_BUDGET),
    Fault("cut at the limit", answer("会議は十", finish="length"), S.TRUNCATED, "max_tokens",
          "会議は十"),
    Fault("context shift",
          stream(chunk("好"), STOP, usage(250, 300, timings={"cache_n": 200, "prompt_n": 50,
                                                          "predicted_n": 300})),
          S.TRUNCATED, "550 tokens went through a context of 256", "好"),
    Fault("finish_reason error", stream(HALF, chunk(finish="error"), DONE), S.SERVER_ERROR,
          "finish_reason error", "部分"),
    # Errors of HTTP.
    *(Fault(f"HTTP {status}", failing(status, {"message": "why"}), S.HTTP, f"HTTP {status}: why")
      for status in (400, 401, 403, 404, 422, 429, 500, 502, 503, 504)),
    Fault("HTTP 204", Reply(status=204), S.HTTP, "HTTP 204"),
    Fault("HTTP 502 with HTML", Reply((PAGE,), 502, content_type="text/html"), S.HTTP,
          "Bad gateway"),
    Fault("HTTP 500 without words", Reply(status=500), S.HTTP, "HTTP 500"),
    Fault("HTTP 500 with NUL and halves", failing(500, "a\x00\ud83d"), S.HTTP, "a\ufffd\ufffd"),
    Fault("HTTP 500, body never ends", Reply((b'{"error": "wh', Step.HANG), 500), S.HTTP, "wh"),
    Fault("HTTP 500, body breaks", Reply((b'{"error": "wh', 0.05, Step.BREAK), 500), S.HTTP, "wh"),
    Fault("HTTP 500, endless body", Reply((b"x" * 200_000, Step.HANG), 500), S.HTTP, "xxx"),
    # Overflow in its several shapes.
    Fault("overflow: 400", failing(400, OVERFLOW), S.CONTEXT_OVERFLOW, "5120"),
    Fault("overflow: 400 in two pieces",
          Reply((b'{"error":{"code":400,"message":"m","type":"exceed_con', 0.05,
                 b'text_size_error","n_prompt_tokens":5120,"n_ctx":4096}}'), 400),
          S.CONTEXT_OVERFLOW, "prompt 5120 tokens, context 4096 tokens"),
    Fault("overflow: 500 of the same type", failing(500, {**OVERFLOW, "code": 500}),
          S.CONTEXT_OVERFLOW, "5120"),
    Fault("overflow: 500 while generating", failing(500, SHARED_OVERFLOW), S.CONTEXT_OVERFLOW,
          "has been exceeded"),
    Fault("overflow: 200 with JSON", plain({"error": OVERFLOW}), S.CONTEXT_OVERFLOW, "5120"),
    Fault("overflow: event in a stream", stream(HALF, event({"error": SHARED_OVERFLOW})),
          S.CONTEXT_OVERFLOW, "has been exceeded", "部分"),
    Fault("overflow: vLLM's words",
          failing(400, {"message": "This model's maximum context length is 4096 tokens"}),
          S.CONTEXT_OVERFLOW, "4096"),
    # Errors inside a 200.
    Fault("error event", stream(HALF, event({"error": {"message": "slot lost"}})), S.SERVER_ERROR,
          "slot lost", "部分"),
    Fault("error event after the finish", stream(HALF, STOP, event({"error": "lost"})),
          S.SERVER_ERROR, "lost", "部分"),
    Fault("error line", stream(HALF, b'error: {"code":500,"message":"gone"}\n\n'), S.SERVER_ERROR,
          "gone", "部分"),
    Fault("error line in words", stream(HALF, b"error: gone\n\n"), S.SERVER_ERROR, "gone", "部分"),
    Fault("event: error", stream(HALF, b'event: error\ndata: {"message":"gone"}\n\n'),
          S.SERVER_ERROR, "gone", "部分"),
    Fault("error as bare JSON line", stream(HALF, b'{"error":{"message":"gone"}}\n\n'),
          S.SERVER_ERROR, "gone", "部分"),
    Fault("200 with an error as JSON", plain({"error": {"message": "Unexpected endpoint"}}),
          S.SERVER_ERROR, "Unexpected endpoint"),
    # Streams that end too early.
    Fault("no finish_reason", stream(HALF, DONE), S.STREAM_BROKEN, "without a finish_reason",
          "部分"),
    Fault("ends after some text", stream(HALF), S.STREAM_BROKEN, "without a finish_reason", "部分"),
    Fault("ends at once", stream(), S.STREAM_BROKEN),
    Fault("[DONE] and silence", stream(HALF, DONE, Step.HANG), S.STREAM_BROKEN, "", "部分"),
    Fault("connection closed", stream(HALF, Step.BREAK), S.STREAM_BROKEN, "connection broke",
          "部分"),
    Fault("connection reset", stream(HALF, 0.05, Step.RESET), S.STREAM_BROKEN, "connection broke",
          "部分"),
    Fault("closed right after the headers", stream(Step.BREAK), S.STREAM_BROKEN),
    Fault("broken inside a character",
          stream(HALF, b'data: {"choices":[{"delta":{"content":"' + EMOJI[:2], Step.BREAK),
          S.STREAM_BROKEN, "connection broke", "部分"),
    Fault("ends inside an event", stream(HALF, b'data: {"choices":[{"delta":{"con'),
          S.STREAM_BROKEN, "without a finish_reason", "部分"),
    Fault("ends inside the first event", stream(b'data: {"choices":[{"delta":{"con'),
          S.STREAM_BROKEN, "without a finish_reason"),
    # What is no chat reply at all.
    Fault("garbage event", stream(HALF, b"data: {oops}\n\n"), S.MALFORMED, "{oops}", "部分"),
    Fault("event that is no object", stream(HALF, b"data: [1]\n\n"), S.MALFORMED, "list", "部分"),
    Fault("NUL in a garbage event", stream(b"data: \x00\n\n"), S.MALFORMED, "\ufffd"),
    Fault("endless nesting", stream(b"data: " + b"[" * 100_000 + b"\n\n"), S.MALFORMED, "deep"),
    Fault("invalid UTF-8", stream(HALF, b'data: {"x":"\xff"}\n\n'), S.MALFORMED, "utf-8", "部分"),
    Fault("HTML", HTML, S.MALFORMED, "<!doctype html>"),
    Fault("words", Reply((b"upstream timed out\n",), content_type="text/plain"), S.MALFORMED,
          "upstream timed out"),
    Fault("half a JSON body", Reply((b'{"choices":',), content_type="application/json"),
          S.MALFORMED, "no JSON"),
    # Silence.
    Fault("no headers", Reply(before=(Step.HANG,)), S.TIMEOUT, "nothing came for 0.5 s"),
    Fault("headers only", stream(Step.HANG), S.TIMEOUT, "nothing came for 0.5 s"),
    Fault("silent half-way", stream(HALF, Step.HANG), S.TIMEOUT, "nothing came", "部分"),
    Fault("reset before headers", Reply(before=(Step.RESET,)), S.CONNECTION),
    Fault("closed before headers", Reply(before=(Step.BREAK,)), S.CONNECTION),
]  # fmt: skip


@pytest.mark.parametrize("fault", TABLE, ids=lambda fault: fault.name)
def test_every_fault_has_its_status(
    fault: Fault, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.endpoints.client.LONGEST_EPILOGUE_S", 0.2)
    server.on("hello", fault.reply)
    said = ask(server.base_url, slot_context=256)
    assert said.status is fault.status
    assert said.text == fault.text
    assert fault.detail in (said.error_detail or "")
    assert said.status is not S.OK or said.error_detail is None
    f"{said.text}{said.raw}{said.reasoning}{said.error_detail}".encode()


def test_nobody_listens() -> None:
    with closed_port() as url:
        said = ask(url)
    assert said.status is S.CONNECTION
    assert said.error_detail


@pytest.mark.parametrize("bytes_", [b"SSH-2.0-x\r\n", b"\x00\x01\x02", b""])
def test_what_listens_speaks_no_http(bytes_: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(bytes_)

    with raw_server(serve) as url:
        assert ask(url).status is S.CONNECTION


@pytest.mark.parametrize(
    ("replies", "status", "tries"),
    [
        ([failing(503), failing(503), answer("好")], S.OK, 3),
        ([failing(503)], S.HTTP, 3),
        ([failing(429), answer("好")], S.OK, 2),
        ([failing(429, Retry_After="0.02"), answer("好")], S.OK, 2),
        ([failing(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), answer("好")], S.OK, 2),
        ([failing(429, Retry_After="3600"), answer("好")], S.HTTP, 1),
        ([Reply(before=(Step.RESET,)), answer("好")], S.OK, 2),
        ([failing(500, SHARED_OVERFLOW), answer("好")], S.OK, 2),
        ([failing(500, SHARED_OVERFLOW)], S.CONTEXT_OVERFLOW, 2),
        ([failing(400, OVERFLOW)], S.CONTEXT_OVERFLOW, 1),
        ([failing(500), answer("好")], S.HTTP, 1),
        ([failing(400), answer("好")], S.HTTP, 1),
        ([stream(HALF, Step.BREAK), answer("好")], S.STREAM_BROKEN, 1),
        ([stream(chunk(reasoning="想"), LENGTH), answer("好")], S.NO_ANSWER_BUDGET, 1),
        ([Reply(before=(Step.HANG,)), answer("好")], S.TIMEOUT, 1),
    ],
)
def test_only_what_a_retry_can_help_is_asked_again(
    replies: list[Reply], status: S, tries: int, server: FaultServer
) -> None:
    server.on("hello", *replies)
    said = ask(server.base_url, policy=QUICK)
    assert said.status is status
    assert len(server.chats) == tries
    assert len(said.retries) == tries - 1
    assert all(retry.detail for retry in said.retries)


def test_slots_that_share_the_context_are_named(server: FaultServer) -> None:
    server.on("hello", failing(500, SHARED_OVERFLOW))
    assert "4 slots share" in (ask(server.base_url, slots=4).error_detail or "")
    assert "share" not in (ask(server.base_url, slots=1).error_detail or "")


HUGE = 10 * 2**20


@pytest.mark.parametrize("pieces", [1, 5_000])
def test_ten_megabytes_arrive_whole(pieces: int, server: FaultServer) -> None:
    piece = "é" * (HUGE // 2 // pieces)
    parts: list[Any] = [chunk(piece)] * pieces
    server.on("hello", stream(*parts, STOP, DONE))
    said = ask(server.base_url, timeout_s=30)
    assert said.status is S.OK
    assert len(said.text) == len(piece) * pieces


def test_an_answer_without_end_is_given_up(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.endpoints.reply.LONGEST_ANSWER", 2**20)
    server.on("hello", stream(*[chunk("x" * 10_000)] * 200, Step.HANG))
    said = ask(server.base_url)
    assert said.status is S.MALFORMED
    assert "1 MiB" in (said.error_detail or "")
    assert 2**19 < len(said.text) < 2**20
