"""Asking all endpoints of a chat at once, watched by whoever asked."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from evalbot.chatting.chats import ChatRefusedError, own_transcript
from evalbot.chatting.live import Column, LiveAnswer, with_sampling
from evalbot.chatting.opening import refuse_if_not_open
from evalbot.domain.chats import ChatAnswer, Transcript
from evalbot.domain.people import User
from evalbot.domain.settings import Config, EndpointSettings
from evalbot.formats.received import clean_text
from evalbot.running.lanes import lanes_of
from evalbot.running.prepare import choose_endpoints
from evalbot.running.together import in_thread_to_the_end, wait_out
from evalbot.store import chats
from evalbot.store.database import Database

SHORTEST_PAUSE_S = 0.1
"""Between two looks at what has come."""

HEARTBEAT_S = 1.0
"""The longest time between two: a page that has gone is noticed at one of them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A turn at a moment. columns: in the turn's order; none in a blind turn that is not done."""

    turn: int
    asked: int
    columns: tuple[Column, ...]
    is_done: bool


class ChatRoom:
    """All chats that are being answered in this process. Belongs to one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._running: dict[str, _RunningTurn | None] = {}

    async def ask(
        self, user: User, chat: str, prompt: str, read_config: Callable[[], Config]
    ) -> AsyncGenerator[Snapshot]:
        """Ask every endpoint of a chat the next prompt, and tell how it goes.

        At most ten snapshots a second, the last one when all is recorded. In a blind chat
        they tell nothing until then, not even by their times. When the generator is closed,
        requests are cancelled: what had finished is on record, and of the rest what had come.
        """
        if chat in self._running:
            raise ChatRefusedError("this chat is being answered already; wait for it, or stop it")
        self._running[chat] = None
        try:
            turn = await in_thread_to_the_end(partial(self._begin, user, chat, prompt, read_config))
            self._running[chat] = turn
            try:
                async for snapshot in turn.watch():
                    yield snapshot
            finally:
                await turn.end()
            turn.raise_if_failed()
        finally:
            del self._running[chat]

    def stop(self, user: User, chat: str, endpoint: str | None = None) -> None:
        """Stop one endpoint's answer, or all of a chat's; from any thread.

        What is done already stays as it is.
        """
        turn = self._running.get(chat)
        if turn is not None and turn.owner == user.name:
            turn.stop(endpoint)

    def running_turn(self, chat: str) -> int | None:
        """The number of the turn that is being answered, 0 while it begins; None without one."""
        if chat not in self._running:
            return None
        turn = self._running[chat]
        return 0 if turn is None else turn.number

    def _begin(
        self, user: User, chat: str, prompt: str, read_config: Callable[[], Config]
    ) -> _RunningTurn:
        prompt = clean_text(prompt)
        if not prompt.strip():
            raise ChatRefusedError("there is nothing to ask: type a prompt first")
        with self._database.read() as connection:
            transcript = own_transcript(connection, user, chat)
            refuse_if_not_open(connection, transcript.chat, prompt)
        settings = transcript.chat.settings
        endpoints = [
            with_sampling(endpoint, settings.sampling)
            for endpoint in choose_endpoints(read_config(), settings.endpoints)
        ]
        order = [endpoint.name for endpoint in endpoints]
        if transcript.chat.is_blind:
            random.SystemRandom().shuffle(order)
        with self._database.write() as connection:
            number = chats.add_turn(connection, chat, prompt, order, datetime.now(UTC))
        return _RunningTurn(self._database, transcript, number, prompt, order, endpoints)


class _RunningTurn:
    """One prompt on its way to all endpoints."""

    def __init__(
        self,
        database: Database,
        transcript: Transcript,
        number: int,
        prompt: str,
        order: Sequence[str],
        endpoints: Sequence[EndpointSettings],
    ) -> None:
        self._database = database
        self._chat = transcript.chat
        self.owner = transcript.chat.owner
        self.number = number
        self._changed = asyncio.Event()
        lives: dict[str, LiveAnswer] = {}
        for lane in lanes_of(endpoints):
            turns = asyncio.Lock()
            for endpoint in lane:
                messages = transcript.conversation(endpoint.name, prompt)
                lives[endpoint.name] = LiveAnswer(endpoint, messages, turns, self._changed.set)
        self._lives = [lives[name] for name in order]
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._recorded: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def watch(self) -> AsyncIterator[Snapshot]:
        """Start asking; snapshots until all is done."""
        self._loop = asyncio.get_running_loop()
        self._tasks = {live.name: asyncio.create_task(self._answer(live)) for live in self._lives}
        tasks = set(self._tasks.values())
        while not all(task.done() for task in tasks):
            yield self._snapshot(is_done=False)
            if self._chat.is_blind:
                await asyncio.wait(tasks, timeout=HEARTBEAT_S)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._changed.wait()
            await asyncio.sleep(SHORTEST_PAUSE_S)
            self._changed.clear()
        yield self._snapshot(is_done=True)

    async def end(self) -> None:
        """Cancel what is still asked, and see that every endpoint's answer is on record.

        It is, also where the server ends and everything is cancelled, once more and again.
        """
        for task in self._tasks.values():
            task.cancel()
        cancelled = await wait_out(list(self._tasks.values()))
        missing = [live for live in self._lives if live.name not in self._recorded]
        if missing:
            await in_thread_to_the_end(partial(self._save, [live.in_the_end() for live in missing]))
        if cancelled is not None:
            raise cancelled

    def raise_if_failed(self) -> None:
        """Raise what kept an answer off the record."""
        for task in self._tasks.values():
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def stop(self, endpoint: str | None) -> None:
        """Stop one endpoint, or all."""
        for name, task in self._tasks.items():
            if endpoint in (None, name) and self._loop is not None:
                self._loop.call_soon_threadsafe(task.cancel)

    async def _answer(self, live: LiveAnswer) -> None:
        answer = await live.ask()
        await in_thread_to_the_end(partial(self._save, [answer]))

    def _save(self, answers: Sequence[ChatAnswer]) -> None:
        with self._database.write() as connection:
            for answer in answers:
                chats.add_answer(connection, self._chat.id, self.number, answer)
        self._recorded.update(answer.endpoint for answer in answers)

    def _snapshot(self, *, is_done: bool) -> Snapshot:
        is_shown = is_done or not self._chat.is_blind
        columns = tuple(live.column() for live in self._lives) if is_shown else ()
        return Snapshot(self.number, len(self._lives), columns, is_done)
