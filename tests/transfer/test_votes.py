"""Votes on a run's endpoints go out, and are checked where they come in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.answers import Answer, AnswerStatus
from evalbot.domain.chats import Chat, ChatAnswer, ChatSettings, Vote
from evalbot.domain.settings import Config
from evalbot.errors import ProblemsError
from evalbot.store import chats
from evalbot.store.database import open_database
from evalbot.store.runs import has_run
from evalbot.transfer.export import export_run
from evalbot.transfer.restore import import_run
from tests.building import START
from tests.reviewing.site import MODELS, ReviewSite, review_site

from .test_restore import edit_line

SETTINGS: Mapping[str, Any] = {}
"""What small_run's endpoints are asked with."""


@pytest.fixture
def site(database_url: str, tmp_path: Path) -> Iterator[ReviewSite]:
    """A run over three models."""
    with open_database(database_url) as database:
        yield review_site(database, tmp_path, 1)


def add_vote(
    site: ReviewSite,
    chat: str,
    choice: str,
    *models: str,
    settings: Mapping[str, Any] = SETTINGS,
    loaded: str | None = None,
) -> None:
    """A chat with these models in which ann voted."""
    with site.database.write() as connection:
        chats.add_chat(connection, Chat(chat, "lee", ChatSettings(models), START, is_blind=True))
        turn = chats.add_turn(connection, chat, "canary prompt", models, START)
        for model in models:
            answer = Answer(AnswerStatus.OK, "canary text", "", "canary text", START)
            said = ChatAnswer(model, answer, settings, model_fingerprint=loaded)
            chats.add_answer(connection, chat, turn, said)
        vote = Vote(turn, models, choice, "ann", True, f"token-{chat}", START)
        chats.add_vote(connection, chat, vote)


def export(site: ReviewSite, **how: bool) -> Path:
    folder = site.folder / "out"
    export_run(site.database, config(site), site.run.id, folder, **how)
    return folder


def config(site: ReviewSite) -> Config:
    return Config(folder=site.folder, database="")


def votes(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "votes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_votes_on_the_runs_endpoints_are_written(site: ReviewSite) -> None:
    add_vote(site, "c2", "okapi", "zebra", "okapi")
    add_vote(site, "c1", "tie", *MODELS)
    folder = export(site, names=True)
    assert votes(folder) == [
        {
            "chat": chat,
            "models": models,
            "choice": choice,
            "voter": "ann",
            "at": "2026-11-30T12:00:00.000000Z",
        }
        for chat, models, choice in (
            ("c2", ["zebra", "okapi"], "okapi"),
            ("c1", list(MODELS), "tie"),
        )
    ]
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"canary" not in everything


def test_other_votes_are_not(site: ReviewSite) -> None:
    add_vote(site, "c1", "okapi", "okapi", "stranger")
    add_vote(site, "c2", "okapi", "okapi", "zebra", settings={"sampling": {"temperature": 2}})
    assert not (export(site) / "votes.jsonl").exists()


def test_voters_keep_one_pseudonym(site: ReviewSite) -> None:
    add_vote(site, "c1", "okapi", "okapi", "zebra")
    site.campaign("ann")
    folder = export(site)
    [line] = votes(folder)
    assert line["voter"].startswith("reviewer-")
    [campaign] = (folder / "campaigns.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(campaign)["plan"]["reviewers"] == [line["voter"]]


def test_they_are_checked_and_not_taken_in(site: ReviewSite, tmp_path: Path) -> None:
    add_vote(site, "c1", "okapi", "okapi", "zebra")
    folder = export(site)
    with open_database(f"sqlite:///{tmp_path}/other.db") as other:
        assert import_run(other, config(site), folder).added
        export_run(other, config(site), site.run.id, site.folder / "two")
    assert not (site.folder / "two/votes.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"chat": "../x"}, 'chat: found "../x"; expected letters'),
        ({"models": ["okapi", "stranger"]}, 'models: found "stranger"'),
        ({"models": ["okapi"]}, "models: found 1 models; expected at least 2"),
        ({"choice": "quagga"}, 'choice: found "quagga"; expected one of okapi, zebra, tie'),
        ({"voter": ""}, "voter: found nothing"),
        ({"at": 5}, 'at: found "5"'),
        ({"text": "x"}, 'found unknown key "text"'),
    ],
)
def test_a_forged_vote_is_refused(
    site: ReviewSite, tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    add_vote(site, "c1", "okapi", "okapi", "zebra")
    edit_line(export(site), "votes.jsonl", 1, **change)
    with open_database(f"sqlite:///{tmp_path}/other.db") as other:
        with pytest.raises(ProblemsError) as caught:
            import_run(other, config(site), site.folder / "out")
        with other.read() as connection:
            assert not has_run(connection, site.run.id)
    assert f"votes.jsonl:1: {expected}" in str(caught.value)
