"""A blind chat with two real llama.cpp servers: ask, vote, and only then the names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from evalbot.domain.answers import AnswerStatus
from evalbot.store import chats
from evalbot.store.database import open_database
from tests.real.conftest import serving, smollm2_file
from tests.running.site import Site as Project
from tests.ui.chatting import ChatPage
from tests.ui.serving import Sent, add_people, served

NAMES = ("smollm2-calm", "smollm2-wild")
PROMPT = "Name three colours."


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    """One small model on two servers, which call it differently."""
    with serving(smollm2_file(), "calm-135m", 1024, 1) as calm:
        with serving(smollm2_file(), "wild-135m", 1024, 1) as wild:
            yield calm, wild


def test_a_blind_chat_is_voted_on_before_the_names_are_told(
    servers: tuple[str, str], browser: Browser, tmp_path: Path
) -> None:
    project = Project(tmp_path)
    for name, url, temperature in zip(NAMES, servers, (0, 1.5), strict=True):
        sampling = {"temperature": temperature, "seed": 1, "max_tokens": 40}
        project.endpoint(name, url, sampling=sampling, timeout_s=120)
    sent = Sent()
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as database:
        add_people(database, lee="lead")
        with served(database, tmp_path, sent) as site:
            chat = ChatPage(site, browser)
            chat.choose(*NAMES, blind=True)
            assert NAMES[0] in sent.text()  # as they were chosen, before the turn
            sent.forget()
            chat.ask(PROMPT)
            turn = chat.wait_until_answered()
            before = sent.text()
            with database.read() as connection:
                line = chats.list_chats(connection, "lee", 1)[0]
                on_record = chats.read_transcript(connection, line.chat.id).turns[0]
            for name in on_record.order:
                said = on_record.answers[name]
                assert said.answer.status in (AnswerStatus.OK, AnswerStatus.TRUNCATED)
                column = turn.locator("article").nth(on_record.order.index(name))
                start = said.answer.text.strip().splitlines()[0]
                expect(column).to_contain_text(start)
                assert said.model_id not in (None, *NAMES)
                for told in (name, said.model_id, "tokens/s", "135m"):
                    assert str(told) not in before
            sent.forget()
            turn.get_by_role("button", name="B is best").click()
            expect(turn).to_contain_text("You voted")
            for letter, name in zip("AB", on_record.order, strict=True):
                heading = turn.get_by_role("heading", name=f"{letter} {name}")
                expect(heading).to_be_visible()
            assert all(name in sent.text() for name in NAMES)
            with database.read() as connection:
                turns = chats.read_transcript(connection, line.chat.id).turns
            [vote] = turns[0].votes
            assert (vote.choice, vote.voter, vote.is_blind) == (on_record.order[1], "lee", True)
            chat.close()
