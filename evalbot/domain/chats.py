"""Chats: one prompt to several endpoints side by side, turn by turn, and what was voted best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evalbot.domain.answers import Answer, AnswerStatus
from evalbot.domain.cases import Message

TIE, ALL_BAD, GRADED = "tie", "all_bad", "graded"
"""Votes that name no endpoint; the last one grades each answer instead."""

GRADES = ("good", "fair", "bad")
"""How an answer of a chat may be graded, where there is no rubric to go by."""

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FEWEST_TO_VOTE_ON = 2


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Who is asked and how; sampling goes over the endpoints' own."""

    endpoints: tuple[str, ...]
    system: str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chat:
    """One person's chat.

    is_open: reviewers may take part, each in a chat of their own, whose origin this is.
    """

    id: str
    owner: str
    settings: ChatSettings
    created_at: datetime
    is_blind: bool = False
    is_open: bool = False
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What one endpoint said in one turn, how it was asked, and as which model (None: unknown)."""

    endpoint: str
    answer: Answer
    settings: Mapping[str, Any] = field(default_factory=dict)
    model_id: str | None = None
    model_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """Which of these endpoints answered best: one's name, `tie`, `all_bad`, or `graded`.

    grades: by endpoint, a word of GRADES, where each answer was graded. The same token twice is
    one vote.
    """

    turn: int
    models: tuple[str, ...]
    choice: str
    voter: str
    is_blind: bool
    token: str
    at: datetime
    grades: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One prompt and what came of it; order: the endpoints as they are labelled in this turn.

    An endpoint without an answer has none on record yet, or evalbot was killed meanwhile.
    """

    number: int
    prompt: str
    order: tuple[str, ...]
    at: datetime
    answers: Mapping[str, ChatAnswer] = field(default_factory=dict)
    votes: tuple[Vote, ...] = ()

    def label(self, endpoint: str) -> str:
        """The letter an endpoint goes by in this turn."""
        return label_at(self.order.index(endpoint))

    def endpoint(self, label: str) -> str | None:
        """The endpoint behind a letter; None for a letter that this turn does not have."""
        return next((name for name in self.order if self.label(name) == label), None)

    @property
    def was_stopped(self) -> bool:
        """Whether an answer was cut off by somebody: what is there tells who was slow."""
        found = [self.answers.get(name) for name in self.order]
        return any(one is None or one.answer.status is AnswerStatus.CANCELLED for one in found)

    @property
    def contenders(self) -> tuple[str, ...]:
        """The endpoints that can be voted for; empty where there is nothing to choose from."""
        if self.was_stopped:
            return ()
        said = tuple(name for name in self.order if self.answers[name].answer.text.strip())
        return said if len(said) >= FEWEST_TO_VOTE_ON else ()

    def is_running(self, running: int | None) -> bool:
        """Whether it is this turn that is being answered, of which nothing is to be shown yet.

        running: its number, 0 while it begins, None where none is.
        """
        return self.number == running or (running is not None and not self.answers)

    def vote_of(self, voter: str) -> Vote | None:
        """What this person voted."""
        return next((vote for vote in self.votes if vote.voter == voter), None)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A chat with its turns, oldest first."""

    chat: Chat
    turns: tuple[ChatTurn, ...] = ()

    def shows_names(self, turn: ChatTurn) -> bool:
        """Whether the owner may see who said what.

        In a blind chat after their vote, or where there is nothing to vote on; never in a
        chat that a reviewer was let into.
        """
        if self.chat.origin is not None:
            return False
        if not self.chat.is_blind or turn.vote_of(self.chat.owner) is not None:
            return True
        return not turn.contenders

    def conversation(self, endpoint: str, prompt: str) -> tuple[Message, ...]:
        """What this endpoint is sent next: its own earlier answers, and the new prompt.

        A turn in which it said nothing is left out whole: many chat templates refuse two
        prompts in a row.
        """
        system = self.chat.settings.system
        messages = [Message("system", system)] if system else []
        for turn in self.turns:
            said = turn.answers.get(endpoint)
            if said is not None and said.answer.text.strip():
                messages += [Message("user", turn.prompt), Message("assistant", said.answer.text)]
        return (*messages, Message("user", prompt))


def label_at(position: int) -> str:
    """A, B, … Z, then A2, B2, …"""
    round_, letter = divmod(position, len(LABELS))
    return LABELS[letter] + (str(round_ + 1) if round_ else "")
