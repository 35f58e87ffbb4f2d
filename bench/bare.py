"""The least a client can do: `python bench/bare.py ADDRESS COUNT AT_ONCE`."""

import asyncio
import json
import sys

import aiohttp


async def main(address: str, count: int, at_once: int) -> None:
    numbers = iter(range(count))
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def worker() -> None:
            for number in numbers:
                body = {
                    "messages": [{"role": "user", "content": f"請把這句話翻譯成中文 {number}"}],
                    "stream": True,
                }
                async with session.post(f"{address}/v1/chat/completions", json=body) as reply:
                    text = []
                    async for line in reply.content:
                        if line.startswith(b"data: {"):
                            choices = json.loads(line[6:])["choices"]
                            if choices:
                                text.append(choices[0]["delta"].get("content", ""))
                    assert "".join(text)

        await asyncio.gather(*(worker() for _ in range(at_once)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
