"""Two endpoints on fault servers, people, and a chat between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime

from evalbot.chatting.chats import read_chat, start_chat
from evalbot.chatting.room import ChatRoom, Snapshot
from evalbot.domain.chats import Chat, ChatSettings, ChatTurn, Transcript
from evalbot.domain.people import Role, User
from evalbot.store.database import Database
from tests.running.site import Site

LEE = User("lee", Role.LEAD, datetime(2026, 11, 30, tzinfo=UTC))
ANN = User("ann", Role.REVIEWER, datetime(2026, 11, 30, tzinfo=UTC))


class Talk:
    """A site with a database that is open, and one chat of Lee's."""

    def __init__(self, site: Site, database: Database) -> None:
        self.site = site
        self.database = database
        self.room = ChatRoom(database)

    def start(
        self, *endpoints: str, blind: bool = False, user: User = LEE, **settings: object
    ) -> Chat:
        chosen = ChatSettings(endpoints or ("a", "b"), **settings)  # type: ignore[arg-type]
        return start_chat(self.database, user, self.site.config, chosen, is_blind=blind)

    def read(self, chat: Chat, user: User = LEE) -> Transcript:
        return read_chat(self.database, user, chat.id)

    def ask(self, chat: Chat, prompt: str, user: User = LEE) -> ChatTurn:
        """Ask, wait for all of it, and read what is on record."""
        asyncio.run(self.watch(chat, prompt, user))
        return self.read(chat, user).turns[-1]

    async def watch(
        self,
        chat: Chat,
        prompt: str,
        user: User = LEE,
        enough: Callable[[Snapshot], bool] = lambda _: False,
    ) -> list[Snapshot]:
        """All snapshots, or those until enough were seen: then the page is left."""
        seen: list[Snapshot] = []
        async with aclosing(
            self.room.ask(user, chat.id, prompt, lambda: self.site.config)
        ) as snapshots:
            async for snapshot in snapshots:
                seen.append(snapshot)
                if enough(snapshot):
                    break
        return seen
