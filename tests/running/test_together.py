from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from evalbot.running.together import finish, first_of, in_thread_to_the_end, to_the_end


async def value(result: int, after: float = 0.0) -> int:
    await asyncio.sleep(after)
    return result


async def fail() -> int:
    raise ValueError("no")


async def never() -> None:
    await asyncio.Event().wait()


def tasks(*work: Coroutine[Any, Any, int]) -> list[asyncio.Task[int]]:
    return [asyncio.create_task(one) for one in work]


def test_all_results_come_in_order() -> None:
    async def all_of_them() -> list[int]:
        return await finish(tasks(value(1, 0.01), value(2)))

    assert asyncio.run(all_of_them()) == [1, 2]
    assert asyncio.run(finish([])) == []


def test_when_one_fails_none_is_left_behind() -> None:
    async def failing() -> bool:
        running = tasks(value(1, 60), fail())
        with pytest.raises(ValueError):
            await finish(running)
        return running[0].cancelled()

    assert asyncio.run(failing())


def test_when_cancelled_none_is_left_behind() -> None:
    async def cancelled() -> bool:
        running = tasks(value(1, 60))
        waiting = asyncio.create_task(finish(running))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return running[0].cancelled()

    assert asyncio.run(cancelled())


def test_one_that_was_cancelled_alone_has_no_result() -> None:
    async def alone() -> list[int]:
        running = tasks(value(1, 60), value(2))
        running[0].cancel()
        return await finish(running)

    assert asyncio.run(alone()) == [2]


def test_the_first_one_ends_the_others() -> None:
    async def first() -> None:
        await first_of(never(), asyncio.sleep(0))

    asyncio.run(first())


def test_what_the_first_one_raises_is_raised() -> None:
    async def bad() -> None:
        raise ValueError("no")

    async def first() -> None:
        await first_of(never(), bad())

    with pytest.raises(ValueError):
        asyncio.run(first())


@pytest.mark.parametrize("times", [0, 1, 3])
def test_work_that_must_end_ends_however_often_it_is_cancelled(times: int) -> None:
    done: list[int] = []

    async def work() -> int:
        await asyncio.sleep(0.02)
        done.append(1)
        return 7

    async def cancelled() -> int:
        waiting = asyncio.create_task(to_the_end(work()))
        for _ in range(times):
            await asyncio.sleep(0)
            waiting.cancel()
        return await waiting

    if times:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
    else:
        assert asyncio.run(cancelled()) == 7
    assert done == [1]


def test_work_that_must_end_may_fail() -> None:
    with pytest.raises(ValueError):
        asyncio.run(to_the_end(fail()))


def test_work_in_a_thread_is_done_where_the_whole_loop_is_cancelled() -> None:
    done: list[str] = []

    async def asks() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            try:
                await in_thread_to_the_end(lambda: done.append("first"))
            finally:
                await in_thread_to_the_end(lambda: done.append("second"))

    async def cancel_all() -> None:
        task = asyncio.create_task(asks())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        for every in asyncio.all_tasks() - {asyncio.current_task()}:
            every.cancel()

    asyncio.run(cancel_all())
    assert done == ["first", "second"]
