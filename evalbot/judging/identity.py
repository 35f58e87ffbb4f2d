"""What makes two judgements the same one: judge, prompt, rubric, case, answer and vote."""

from __future__ import annotations

from typing import NamedTuple

from evalbot.domain.answers import Place
from evalbot.domain.settings import JudgeSettings
from evalbot.fingerprint import fingerprint

LAST_OF_TOKEN = ":"
ERROR_MARK = "e"


class Vote(NamedTuple):
    """Which reply of a judge to what; the random fence of its prompt is no part of it.

    judge and sheet are fingerprints: of the judge's settings, and of the prompt without the
    answer.
    """

    judge: str
    sheet: str
    rubric: str
    case: str
    run: str
    place: Place
    attempt: int
    number: int

    @property
    def identity(self) -> str:
        """The same wherever the run is taken to: row numbers are no part of it."""
        return fingerprint(["vote", *self[:5], *self.place, self.attempt, self.number])


def judge_fingerprint(judge: JudgeSettings) -> str:
    """Changes when a judge would reply otherwise; where it is reached and its price do not."""
    return fingerprint([judge.name, judge.model, dict(judge.sampling)])


def token_of(identity: str, earlier: int) -> str:
    """Names one reply; earlier: replies to the same that brought no verdict."""
    return f"{identity}{LAST_OF_TOKEN}{earlier}"


def token_of_error(identity: str, when: str) -> str:
    """Names a call that brought no reply: it is no vote, and is made again.

    when: what tells one such call from another, so that the same one is written down once.
    """
    return f"{identity}{LAST_OF_TOKEN}{ERROR_MARK}{when}"


def is_reply(token: str) -> bool:
    """Whether the token names a reply, and not a call that brought none."""
    return not token.partition(LAST_OF_TOKEN)[2].startswith(ERROR_MARK)


def identity_in(token: str) -> str:
    """The identity that a token was made of."""
    return token.partition(LAST_OF_TOKEN)[0]
