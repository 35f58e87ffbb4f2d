"""Signing in and out: slowed attempts, sessions that live in the database."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from datetime import UTC, datetime, timedelta

from evalbot.domain.people import User
from evalbot.errors import EvalbotError
from evalbot.reviewing.users import LONGEST_NAME
from evalbot.store import people
from evalbot.store.database import Database

SESSION_LASTS = timedelta(days=14)
FREE_FAILURES = 3
"""Wrong passwords before each further try has to wait."""

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=2), timedelta(minutes=15)
TOKEN_BYTES = 32

# The hash of no password: a name that is not there takes as long to refuse as a wrong password.
NOBODY = (
    "$argon2id$v=19$m=65536,t=3,p=4$mYaexDF49c+jb0VSskSOug$"
    "9ZVKD9myWNI+7P0u3PJvAJuF5XJdH1oSemHbV4YG1tw"
)


class SignInError(EvalbotError):
    """A sign-in that was refused; the words do not tell whether the name is there.

    wait: until the next try is looked at, where it was not.
    """

    def __init__(self, sentence: str, wait: timedelta | None = None) -> None:
        self.wait = wait
        super().__init__(sentence)


class Strangers:
    """Tries for names that are not there: slowed as the others are, or they could be told apart.

    Only the newest are remembered, and only in this process.
    """

    MOST = 10_000

    def __init__(self) -> None:
        self._tries: OrderedDict[tuple[str, str], tuple[int, datetime]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_left(self, database: Database, name: str, now: datetime) -> timedelta | None:
        """How long this name has to wait; a try that has not to wait counts."""
        key = (database.address, name[:LONGEST_NAME])
        with self._lock:
            failures, at = self._tries.get(key, (0, now))
            wait = _wait_left(failures, at, now)
            if wait is None:
                self._tries[key] = (failures + 1, now)
                self._tries.move_to_end(key)
                if len(self._tries) > self.MOST:
                    self._tries.popitem(last=False)
            return wait


STRANGERS = Strangers()


def sign_in(database: Database, name: str, password: str, now: datetime | None = None) -> str:
    """The token of a new session, for the browser's cookie; SignInError where refused.

    After some wrong passwords each further try for that name must wait, twice as long each
    time. Right passwords are refused while they must wait, too.
    """
    moment = now or datetime.now(UTC)
    with database.write() as connection:
        account = people.get_account(connection, name, lock=True)
        if account is None:
            wait = STRANGERS.wait_left(database, name, moment)
        else:
            wait = _wait_left(account.failures, account.failed_at, moment)
        if wait is not None:
            raise SignInError(f"too many wrong passwords; try again in {_in_words(wait)}", wait)
        if account is not None:
            # Counted before it is looked at: many tries at the same moment all count.
            people.set_failures(connection, account.id, account.failures + 1, moment)
    is_right = _matches(NOBODY if account is None else account.password, password)
    if account is None or account.user.is_disabled or not is_right:
        raise SignInError("name or password is wrong")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with database.write() as connection:
        people.set_failures(connection, account.id, 0, None)
        people.forget_ended_sessions(connection, moment)
        people.add_session(
            connection, account.id, _fingerprint(token), moment, moment + SESSION_LASTS
        )
    return token


def signed_in(database: Database, token: str | None, now: datetime | None = None) -> User | None:
    """Whose token this is: looked up each time, so that a disabled user is out at once."""
    if not token:
        return None
    with database.read() as connection:
        return people.user_of_session(connection, _fingerprint(token), now or datetime.now(UTC))


def sign_out(database: Database, token: str) -> None:
    """End the session of this token."""
    with database.write() as connection:
        people.end_session(connection, _fingerprint(token))


def _wait_left(failures: int, failed_at: datetime | None, now: datetime) -> timedelta | None:
    if failures < FREE_FAILURES or failed_at is None:
        return None
    wait = min(FIRST_WAIT * 2 ** min(failures - FREE_FAILURES, 20), LONGEST_WAIT)
    left = failed_at + wait - now
    # More than the wait: the clock was set back, and the hours until then are nobody's fault.
    return left if timedelta(0) < left <= wait else None


def _matches(hashed: str, password: str) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return PasswordHasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False


def _fingerprint(token: str) -> str:
    """What is stored of a token: who reads the database cannot sign in with it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _in_words(wait: timedelta) -> str:
    seconds = max(1, round(wait.total_seconds()))
    return f"{seconds} s" if seconds < 120 else f"{-(-seconds // 60)} minutes"
