"""The lines of votes.jsonl: which of a run's endpoints people found best in chats.

They are written to be checked elsewhere, and read only to be checked: taken in without the
chats that they were cast in, they would tell of nothing.
"""

from __future__ import annotations

import re

from evalbot.domain.chats import ALL_BAD, FEWEST_TO_VOTE_ON, TIE
from evalbot.formats.fields import Fields
from evalbot.formats.problems import Problems, one_of, shown
from evalbot.store.columns import time_text
from evalbot.store.votes import CastVote
from evalbot.transfer.head import Head
from evalbot.transfer.lines import Line
from evalbot.transfer.people import People
from evalbot.transfer.reading import json_objects
from evalbot.transfer.strict import moment

CHAT_ID = re.compile(r"[\w-]{1,16}", re.ASCII)


def vote_line(cast: CastVote, people: People) -> Line:
    """A vote as its JSON object; nothing of what was asked or answered."""
    vote = cast.vote
    return {
        "chat": cast.chat,
        "models": list(vote.models),
        "choice": vote.choice,
        "voter": people.name(vote.voter),
        "at": time_text(vote.at),
    }


def check_votes(text: str, file: str, head: Head, problems: Problems) -> None:
    """See that the lines are votes on endpoints of the run; what is wrong is noted."""
    endpoints = [endpoint.name for endpoint in head.run.endpoints]
    for entries in json_objects(text, file, problems):
        fields = Fields(entries, file, problems)
        chat = fields.name("chat")
        if chat and not CHAT_ID.fullmatch(chat):
            fields.fault("chat", shown(chat), "letters, digits, _ and - only, at most 16")
        models = fields.choices("models", endpoints)
        if len(models) < FEWEST_TO_VOTE_ON:
            fields.fault("models", f"{len(models)} models", f"at least {FEWEST_TO_VOTE_ON}")
        choice = fields.text("choice")
        choices = (*models, TIE, ALL_BAD)
        if choice and choice not in choices:
            fields.fault("choice", shown(choice), one_of(choices, choice))
        fields.name("voter")
        moment(fields, "at")
        fields.finish()
