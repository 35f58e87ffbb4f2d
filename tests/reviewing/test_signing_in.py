"""Signing in: right and wrong passwords, slowed attempts, sessions that end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from evalbot.domain.people import Role
from evalbot.errors import InputError, NotFoundError
from evalbot.reviewing import signing_in, users
from evalbot.reviewing.signing_in import SignInError, sign_in, sign_out, signed_in
from evalbot.store.database import Database, open_database

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RIGHT, WRONG = "correct horse", "battery staple"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """With one reviewer."""
    with open_database(database_url) as opened:
        users.add_user(opened, "ann", Role.REVIEWER, RIGHT)
        yield opened


def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_the_right_password_opens_a_session(database: Database) -> None:
    token = sign_in(database, "ann", RIGHT, NOW)
    user = signed_in(database, token, NOW)
    assert user is not None
    assert (user.name, user.role, user.is_disabled) == ("ann", Role.REVIEWER, False)
    assert signed_in(database, f"{token}x", NOW) is None
    assert signed_in(database, None) is None
    assert signed_in(database, "") is None


def test_two_browsers_are_two_sessions_and_one_can_be_ended(database: Database) -> None:
    one, other = sign_in(database, "ann", RIGHT, NOW), sign_in(database, "ann", RIGHT, NOW)
    assert one != other
    sign_out(database, one)
    assert signed_in(database, one, NOW) is None
    assert signed_in(database, other, NOW) is not None


def test_a_session_ends_by_itself(database: Database) -> None:
    token = sign_in(database, "ann", RIGHT, NOW)
    later = NOW + signing_in.SESSION_LASTS
    assert signed_in(database, token, later - timedelta(seconds=1)) is not None
    assert signed_in(database, token, later) is None
    sign_in(database, "ann", RIGHT, later)
    assert len(rows(database, "SELECT token FROM sessions")) == 1


@pytest.mark.parametrize(
    ("name", "password"), [("ann", WRONG), ("bob", RIGHT), ("", ""), ("Ann", RIGHT)]
)
def test_who_is_wrong_is_not_told_in_what(database: Database, name: str, password: str) -> None:
    with pytest.raises(SignInError, match=r"^name or password is wrong$"):
        sign_in(database, name, password, NOW)


def test_wrong_passwords_make_further_tries_wait_ever_longer(database: Database) -> None:
    for _ in range(signing_in.FREE_FAILURES):
        with pytest.raises(SignInError, match="is wrong"):
            sign_in(database, "ann", WRONG, NOW)
    with pytest.raises(SignInError, match="too many wrong passwords; try again in 2 s"):
        sign_in(database, "ann", RIGHT, NOW)
    after = NOW + timedelta(seconds=2)
    with pytest.raises(SignInError, match="is wrong"):
        sign_in(database, "ann", WRONG, after)
    with pytest.raises(SignInError, match="try again in 4 s"):
        sign_in(database, "ann", RIGHT, after)
    token = sign_in(database, "ann", RIGHT, after + timedelta(seconds=4))
    assert signed_in(database, token, after) is not None
    with pytest.raises(SignInError, match="is wrong"):
        sign_in(database, "ann", WRONG, after)


@pytest.mark.parametrize("name", ["nobody", "x" * 200, "no\u00e9"])
def test_names_that_are_not_there_wait_in_the_same_words(database: Database, name: str) -> None:
    told = []
    for asked in ("ann", name):
        at, words = NOW, []
        for _ in range(6):
            with pytest.raises(SignInError) as error:
                sign_in(database, asked, WRONG, at)
            words.append(str(error.value))
            at += timedelta(seconds=1)
        told.append(words)
    assert told[0] == told[1]
    assert "try again in" in told[1][-1]


def test_of_names_that_are_not_there_only_the_newest_are_remembered(database: Database) -> None:
    strangers = signing_in.Strangers()
    strangers.MOST = 3  # type: ignore[misc]
    for name in "aaaabcd":
        strangers.wait_left(database, name, NOW)
    assert strangers.wait_left(database, "a", NOW) is None


def test_nobody_waits_for_a_clock_that_was_set_back(database: Database) -> None:
    for _ in range(signing_in.FREE_FAILURES):
        with pytest.raises(SignInError):
            sign_in(database, "ann", WRONG, NOW)
    assert sign_in(database, "ann", RIGHT, NOW - timedelta(hours=3))


def test_the_wait_has_an_end(database: Database) -> None:
    at = NOW
    for _ in range(20):
        with pytest.raises(SignInError):
            sign_in(database, "ann", WRONG, at)
        at += signing_in.LONGEST_WAIT
    assert signed_in(database, sign_in(database, "ann", RIGHT, at), at) is not None


def test_many_tries_at_the_same_moment_all_count(database: Database) -> None:
    told: list[str] = []

    def attempt() -> None:
        try:
            sign_in(database, "ann", WRONG, NOW)
        except SignInError as error:
            told.append(str(error))

    threads = [threading.Thread(target=attempt) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("is wrong" in words for words in told) == signing_in.FREE_FAILURES
    assert sum("too many" in words for words in told) == 12 - signing_in.FREE_FAILURES


def test_a_disabled_user_is_out_at_once_and_can_be_let_in_again(database: Database) -> None:
    token = sign_in(database, "ann", RIGHT, NOW)
    users.disable_user(database, "ann")
    assert signed_in(database, token, NOW) is None
    with pytest.raises(SignInError, match="name or password is wrong"):
        sign_in(database, "ann", RIGHT, NOW)
    users.enable_user(database, "ann")
    assert signed_in(database, token, NOW) is None
    assert signed_in(database, sign_in(database, "ann", RIGHT, NOW), NOW) is not None


def test_another_password_ends_all_sessions(database: Database) -> None:
    token = sign_in(database, "ann", RIGHT, NOW)
    users.change_password(database, "ann", WRONG)
    assert signed_in(database, token, NOW) is None
    with pytest.raises(SignInError):
        sign_in(database, "ann", RIGHT, NOW)
    assert sign_in(database, "ann", WRONG, NOW)


def test_neither_passwords_nor_tokens_are_in_the_database(database: Database) -> None:
    token = sign_in(database, "ann", RIGHT, NOW)
    everything = str(rows(database, "SELECT * FROM users")) + str(
        rows(database, "SELECT * FROM sessions")
    )
    assert RIGHT not in everything
    assert token not in everything
    assert "$argon2id$" in everything
    users.add_user(database, "bob", Role.LEAD, RIGHT)
    hashes = rows(database, "SELECT password FROM users")
    assert len(set(hashes)) == 2


@pytest.mark.parametrize("name", ["", " ann", "a,b", "a\nb", "x" * 101, "ann"])
def test_names_that_will_not_do(database: Database, name: str) -> None:
    with pytest.raises(InputError):
        users.add_user(database, name, Role.REVIEWER, RIGHT)


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
def test_passwords_that_will_not_do(database: Database, password: str) -> None:
    with pytest.raises(InputError, match="expected 8 to 1000 characters"):
        users.add_user(database, "bob", Role.REVIEWER, password)
    with pytest.raises(InputError, match="expected 8 to 1000 characters"):
        users.change_password(database, "ann", password)


def test_an_unknown_user_is_told_with_the_nearest(database: Database) -> None:
    with pytest.raises(NotFoundError, match=r"there is no user 'anne'; did you mean ann\?"):
        users.disable_user(database, "anne")
