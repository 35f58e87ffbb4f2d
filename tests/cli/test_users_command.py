"""`evalbot users` as a process of its own."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from evalbot.reviewing.signing_in import SignInError, sign_in
from evalbot.store.database import open_database

from .calling import evalbot


def with_password(folder: Path, *arguments: str, password: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalbot.cli.main", "users", *arguments, "--password-stdin"],
        cwd=folder,
        input=f"{password}\nrest\n",
        capture_output=True,
        text=True,
        check=False,
    )


def test_people_are_added_listed_disabled_and_given_other_passwords(tmp_path: Path) -> None:
    added = with_password(tmp_path, "add", "ann", "--role", "reviewer", password="first password")
    assert (added.returncode, added.stdout) == (0, "")
    assert "ann may sign in as reviewer" in added.stderr
    assert (
        with_password(tmp_path, "add", "鈴木", "--role", "lead", password="12345678").returncode
        == 0
    )
    listed = evalbot("users", "list", folder=tmp_path)
    found = list(csv.DictReader(io.StringIO(listed.stdout)))
    assert [(row["name"], row["role"], row["state"]) for row in found] == [
        ("ann", "reviewer", "active"),
        ("鈴木", "lead", "active"),
    ]
    assert with_password(tmp_path, "passwd", "ann", password="second password").returncode == 0
    with open_database("sqlite:///evalbot.db", tmp_path) as database:
        with pytest.raises(SignInError):
            sign_in(database, "ann", "first password")
        assert sign_in(database, "ann", "second password")
    assert evalbot("users", "disable", "ann", folder=tmp_path).returncode == 0
    assert "disabled" in evalbot("users", "list", folder=tmp_path).stdout
    assert evalbot("users", "disable", "ann", "--undo", folder=tmp_path).returncode == 0
    assert "disabled" not in evalbot("users", "list", folder=tmp_path).stdout


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    done = evalbot("users", "disable", "ann", folder=tmp_path)
    assert (done.returncode, "there is no record in" in done.stderr) == (2, True)
    done = with_password(tmp_path, "add", "ann", "--role", "boss", password="first password")
    assert (done.returncode, '--role: found "boss"; expected' in done.stderr) == (2, True)
    done = with_password(tmp_path, "add", "ann", "--role", "lead", password="short")
    assert (done.returncode, "expected 8 to 1000 characters" in done.stderr) == (2, True)
    with_password(tmp_path, "add", "ann", "--role", "lead", password="long enough")
    done = with_password(tmp_path, "add", "ann", "--role", "lead", password="long enough")
    assert (done.returncode, "there is a user 'ann' already" in done.stderr) == (2, True)
    done = evalbot("users", "disable", "amn", folder=tmp_path)
    assert (done.returncode, "did you mean ann?" in done.stderr) == (2, True)
