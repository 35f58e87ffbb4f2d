"""Waiting for several tasks such that none is left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


async def finish(tasks: Sequence[asyncio.Task[Result]]) -> list[Result]:
    """All results of those not cancelled. When one fails, or we are cancelled, all are ended."""
    if not tasks:
        return []
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return [task.result() for task in tasks if not task.cancelled()]


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of work that must not stop half-way: when we are cancelled, after it is done."""
    task = asyncio.create_task(work)
    cancelled = await wait_out([task])
    if cancelled is not None and task.exception() is None:
        raise cancelled
    return task.result()


async def in_thread_to_the_end(work: Callable[[], Result]) -> Result:
    """The same for work in a thread. It is done even where all tasks of the loop are cancelled."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled = await wait_out([future])
    if cancelled is not None and future.exception() is None:
        raise cancelled
    return future.result()


async def wait_out(futures: Sequence[asyncio.Future[Any]]) -> asyncio.CancelledError | None:
    """Wait until all are done, also when we are cancelled meanwhile: then by what."""
    cancelled: asyncio.CancelledError | None = None
    while not all(future.done() for future in futures):
        try:
            await asyncio.wait(futures)
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


async def within_grace(work: Coroutine[Any, Any, Result], seconds: float) -> Result:
    """The result of work; when we are cancelled, it has so many seconds left to be done."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task], timeout=seconds)
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error from None
        raise


async def first_of(*coroutines: Coroutine[Any, Any, None]) -> None:
    """Until one of them is done; the others are ended. Raises what the first one raised."""
    tasks = [asyncio.create_task(one) for one in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()
