"""An OpenAI-compatible server that answers at once: `python -m bench.instant_server`.

Prints its address. As small as HTTP allows, so that the client is what gets measured.
With a gap, it writes a token every so many seconds and each token is the time of writing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import Any

TOKENS = ("会", "议", "在", "周", "五", "上", "午", "十", "点", "开", "始", "。")
MODELS = {"object": "list", "data": [{"id": "instant", "object": "model"}]}
PROPS = {"total_slots": 32, "default_generation_settings": {"n_ctx": 8192}, "model_path": "m"}


def event(body: object) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def chunk(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


END = event(
    {
        "choices": [],
        "usage": {"prompt_tokens": 20, "completion_tokens": len(TOKENS)},
        "timings": {"prompt_n": 20, "prompt_ms": 1.0, "predicted_n": 12, "predicted_ms": 12.0},
    }
)
WHOLE: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"content": "".join(TOKENS)}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": len(TOKENS)},
}
"""For clients that do not stream."""

ANSWER = [framed(chunk(token)) for token in TOKENS]
ENDING = framed(chunk(finish="stop")) + framed(END) + framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def plain(body: object, status: str = "200 OK") -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    return head.encode() + b"\r\n\r\n" + data


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gap: float | None, times: int
) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = await reader.readexactly(length)
            streamed = b'"stream": true' in body or b'"stream":true' in body
            await answer(path, writer, streamed, gap, times)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def answer(
    path: bytes, writer: asyncio.StreamWriter, streamed: bool, gap: float | None, times: int
) -> None:
    if path.endswith(b"/chat/completions") and not streamed:
        writer.write(plain(WHOLE))
    elif path.endswith(b"/chat/completions"):
        writer.write(STREAM_HEAD)
        for data in ANSWER * times:
            if gap is not None:
                await asyncio.sleep(gap)
                data = framed(chunk(f"{time.time():.6f} "))
            writer.write(data)
            await writer.drain()
        writer.write(ENDING)
    elif path.endswith(b"/models"):
        writer.write(plain(MODELS))
    elif path.startswith(b"/props"):
        writer.write(plain(PROPS))
    elif path.endswith(b"/input_tokens"):
        writer.write(plain({"input_tokens": 10}))
    elif path.endswith(b"/health"):
        writer.write(plain({"status": "ok"}))
    else:
        writer.write(plain({"error": {"message": "not found"}}, "404 Not Found"))
    await writer.drain()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gap", type=float, default=None, help="seconds between tokens")
    parser.add_argument("--reply", help="what is answered to requests that do not stream")
    parser.add_argument("--times", type=int, default=1, help="how often the answer is written")
    options = parser.parse_args()
    if options.reply is not None:
        WHOLE["choices"][0]["message"] = {"role": "assistant", "content": options.reply}
    server = await asyncio.start_server(
        lambda reader, writer: serve(reader, writer, options.gap, options.times), "127.0.0.1", 0
    )
    host, port = server.sockets[0].getsockname()[:2]
    print(f"http://{host}:{port}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
