"""Who asks: the cookie's session, or without any users the one who was given the printed URL."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

from evalbot.domain.people import Role, User
from evalbot.reviewing.signing_in import sign_out, signed_in
from evalbot.store import people
from evalbot.store.database import Database

OWNER = "owner"
"""What the only person is called where no users are defined."""


class NotAllowedError(Exception):
    """Who asks may not do this; is_signed_out: they have to sign in first."""

    def __init__(self, sentence: str, *, is_signed_out: bool = False) -> None:
        self.is_signed_out = is_signed_out
        super().__init__(sentence)


class Identity:
    """Tells who a request comes from, by its cookie; looked up each time.

    Without any users, `owner_token` opens the page once; what it opened lasts as long as the
    process, and ends as soon as there are users.
    """

    def __init__(self, database: Database, port: int) -> None:
        self._database = database
        self.cookie = f"evalbot_session_{port}"
        self.owner_token: str | None = None
        self._owner_session: str | None = None
        if not self.has_users():
            self.owner_token = secrets.token_urlsafe(24)

    def has_users(self) -> bool:
        """Whether anybody can sign in by name."""
        with self._database.read() as connection:
            return bool(people.list_users(connection))

    def open_as_owner(self, token: str) -> str | None:
        """The session that the one-time token opens; None where it is not that, or used up."""
        expected = self.owner_token
        if expected is None or not hmac.compare_digest(expected.encode(), token.encode()):
            return None
        if self.has_users():
            return None
        self.owner_token = None
        self._owner_session = secrets.token_urlsafe(32)
        return self._owner_session

    def user_of(self, cookies: Mapping[str, str]) -> User | None:
        """Who is signed in by these cookies; None for nobody."""
        session = cookies.get(self.cookie)
        if not session:
            return None
        owner = self._owner_session
        if owner is not None and hmac.compare_digest(owner.encode(), session.encode()):
            return None if self.has_users() else User(OWNER, Role.LEAD, datetime.now(UTC))
        return signed_in(self._database, session)

    def require(self, cookies: Mapping[str, str], role: Role) -> User:
        """Who asks, who must have this role; leads may do what reviewers may."""
        user = self.user_of(cookies)
        if user is None:
            raise NotAllowedError("You are signed out: sign in again.", is_signed_out=True)
        if role is Role.LEAD and user.role is not Role.LEAD:
            raise NotAllowedError("Only leads may do this.")
        return user

    def leave(self, cookies: Mapping[str, str]) -> None:
        """End the session of these cookies."""
        session = cookies.get(self.cookie)
        if not session:
            return
        if self._owner_session is not None and hmac.compare_digest(
            self._owner_session.encode(), session.encode()
        ):
            self._owner_session = None
            return
        sign_out(self._database, session)
