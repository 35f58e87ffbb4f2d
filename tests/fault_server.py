"""A chat server that fails as it is told to, on 127.0.0.1, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from aiohttp import web

DONE = b"data: [DONE]\n\n"
TEMPLATE_TOKENS = 10
"""What each turn has around its text."""

OVERFLOW = {
    "code": 400,
    "message": "request (5120 tokens) exceeds the available context size (4096 tokens)",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 5120,
    "n_ctx": 4096,
}
SHARED_OVERFLOW = {
    "code": 500,
    "message": "Context size has been exceeded.",
    "type": "server_error",
}


class Step(Enum):
    """What a reply does instead of sending bytes."""

    HANG = "say nothing more, until the client goes"
    BREAK = "close the connection"
    RESET = "reset the connection"
    GATE = "wait until the server's gate is opened"


Part = bytes | float | Step
"""Bytes are sent, a number is a pause in seconds."""


@dataclass(frozen=True)
class Reply:
    """One reply, part by part; `before` happens before the headers are sent."""

    parts: tuple[Part, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    before: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Chat:
    """A chat request as received."""

    prompt: str
    body: dict[str, Any]
    headers: Mapping[str, str]


def event(body: object) -> bytes:
    """One event; ASCII only, as llama.cpp writes it, so that half surrogates can be sent."""
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def chunk(
    text: str | None = None,
    *,
    reasoning: str | None = None,
    finish: str | None = None,
    **top: object,
) -> bytes:
    """An event with a piece of text, a piece of reasoning, or a finish_reason."""
    delta: dict[str, Any] = {}
    if text is not None:
        delta["content"] = text
    if reasoning is not None:
        delta["reasoning_content"] = reasoning
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **top})


ROLE = event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})


def usage(prompt: int, completion: int, cached: int | None = None, **top: object) -> bytes:
    """The event that carries usage: its list of choices is empty."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    return event({"choices": [], "usage": counts, **top})


def stream(*parts: Part, **options: Any) -> Reply:
    """A stream of these parts and nothing else."""
    return Reply(parts, **options)


def answer(*texts: str, finish: str = "stop", before: tuple[Part, ...] = ()) -> Reply:
    """A good stream as llama.cpp sends it, without timings."""
    tokens = (chunk(text) for text in texts)
    end = (chunk(finish=finish), usage(9, len(texts)), DONE)
    return Reply((ROLE, *tokens, *end), before=before)


def plain(body: object, status: int = 200, **headers: str) -> Reply:
    """A JSON reply that is no stream."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply((json.dumps(body).encode(),), status, named, "application/json")


def failing(status: int, error: object = "out of order", **headers: str) -> Reply:
    """An HTTP error with an OpenAI-like body."""
    return plain({"error": error}, status, **headers)


def default_answer(prompt: str) -> str:
    """What is said to a prompt that has no script."""
    return f"answer to {prompt}"


class FaultServer:
    """Serves while in its `with` block; attributes may be changed at any time.

    llama: whether llama.cpp's own routes are there. port: 0 takes any free one. swap_after,
    die_after: after so many chats another model is loaded, or the server is gone. size: the
    tokens of a text. reply: says what to answer to prompts that have no script.
    """

    def __init__(
        self, model: str = "qwen-test", *, llama: bool = True, events: list[str] | None = None
    ) -> None:
        self.models = [model]
        self.llama = llama
        self.slots = 4
        self.slot_context = 4096
        self.size: Callable[[str], int] = len
        self.reply: Callable[[Chat], Reply] = _echo
        self.template = "{{ enable_thinking }}"
        self.health = 200
        self.route_status: dict[str, int] = {}
        self.key: str | None = None
        self.pace_s = 0.0
        self.swap_after: int | None = None
        self.die_after: int | None = None
        self.chats: list[Chat] = []
        self.counted: list[str] = []
        self.looks = 0
        self.at_once = 0
        self.most_at_once = 0
        self.aborted = 0
        self.connections: set[object] = set()
        self.events = [] if events is None else events
        self._scripts: dict[str, list[Reply]] = {}
        self.port = 0

    @property
    def base_url(self) -> str:
        """What stands in a config as base_url."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def prompts(self) -> list[str]:
        """The prompts received, in order."""
        return [chat.prompt for chat in self.chats]

    def on(self, prompt: str, *replies: Reply) -> None:
        """Answer this prompt with these replies, one a request; the last one is repeated."""
        self._scripts[prompt] = list(replies)

    def open_gate(self) -> None:
        """Let go on what waits at the gate."""
        self._loop.call_soon_threadsafe(self._gate.set)

    def __enter__(self) -> FaultServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(RuntimeError):  # it has died already, as it was told to
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _serve(self, ready: threading.Event) -> None:
        asyncio.run(self._until_stopped(ready))

    async def _until_stopped(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped, self._gate = asyncio.Event(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.01
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        ready.set()
        await self._stopped.wait()
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.json_response({"error": {"message": "Invalid API Key"}}, status=401)
        if path in self.route_status:
            return web.json_response({"error": "told to"}, status=self.route_status[path])
        if path == "/v1/chat/completions":
            return await self._chat(request)
        if path == "/v1/models":
            self.looks += 1
            return web.json_response({"object": "list", "data": [*map(self._entry, self.models)]})
        if self.llama and path == "/health":
            return web.json_response({"status": "ok"}, status=self.health)
        if self.llama and path == "/props":
            return web.json_response(self._props())
        if self.llama and path == "/v1/chat/completions/input_tokens":
            body = await request.json()
            self.counted.append(body["messages"][-1]["content"])
            return web.json_response({"input_tokens": self._tokens(body)})
        return web.json_response({"error": {"message": "File Not Found"}}, status=404)

    def _tokens(self, body: Mapping[str, Any]) -> int:
        return sum(TEMPLATE_TOKENS + self.size(turn["content"]) for turn in body["messages"])

    def _entry(self, name: str) -> dict[str, Any]:
        meta = {"n_params": 134515008, "size": 96576768, "ftype": "Q4_1", "n_ctx_train": 8192}
        return {"id": name, "object": "model", **({"meta": meta} if self.llama else {})}

    def _props(self) -> dict[str, Any]:
        return {
            "default_generation_settings": {"n_ctx": self.slot_context},
            "total_slots": self.slots,
            "model_path": f"models/{self.models[0]}.gguf",
            "chat_template": self.template,
            "build_info": "b1-test",
        }

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = body["messages"][-1]["content"]
        chat = Chat(prompt, body, dict(request.headers))
        self.chats.append(chat)
        self.connections.add(request.transport)
        self.events.append(f"{self.models[0]}:{prompt}")
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        reply = self._reply_to(chat)
        if self.swap_after is not None and len(self.chats) >= self.swap_after:
            self.models = ["another-model"]
        if self.die_after is not None and len(self.chats) >= self.die_after:
            asyncio.get_running_loop().call_soon(self._stopped.set)
            reply = Reply(before=(Step.HANG,))
        try:
            await asyncio.sleep(self.pace_s)
            return await self._play(request, reply)
        except asyncio.CancelledError:
            self.aborted += 1
            raise
        finally:
            self.at_once -= 1

    def _reply_to(self, chat: Chat) -> Reply:
        script = self._scripts.get(chat.prompt)
        if script is None:
            return self.reply(chat)
        return script.pop(0) if len(script) > 1 else script[0]

    async def _play(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        response.content_type = reply.content_type
        for part in reply.before:
            await self._do(request, response, part)
        await response.prepare(request)
        for part in reply.parts:
            await self._do(request, response, part)
        await response.write_eof()
        return response

    async def _do(self, request: web.Request, response: web.StreamResponse, part: Part) -> None:
        if isinstance(part, bytes):
            await response.write(part)
        elif isinstance(part, int | float):
            await asyncio.sleep(part)
        elif part is Step.HANG:
            await asyncio.Event().wait()
        elif part is Step.GATE:
            await self._gate.wait()
        else:
            assert request.transport is not None
            request.transport.close() if part is Step.BREAK else request.transport.abort()
            await asyncio.Event().wait()


def _echo(chat: Chat) -> Reply:
    return answer("answer to ", chat.prompt)


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def closed_port() -> Iterator[str]:
    """A base_url at which nobody listens, and nobody else will while it is used."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A base_url whose every connection is handed to `serve`, below HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
