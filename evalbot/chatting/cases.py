"""A prompt of a chat made into a case: added to a suite of one's own, or to a new one."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalbot.domain.cases import Case, Language, Suite, Task
from evalbot.domain.chats import ChatTurn, Transcript
from evalbot.errors import EvalbotError, InputError
from evalbot.formats.catalogue import find_rubric, list_suites, shipped_folder
from evalbot.formats.problems import shown
from evalbot.formats.received import clean_text
from evalbot.formats.suites import (
    CASES,
    HEAD,
    HOME,
    NAME,
    NAME_WORDS,
    case_values,
    read_suite,
    write_suite,
)
from evalbot.formats.textfile import read_bytes

SOURCE = "chat"


def case_of(
    transcript: Transcript,
    turn: ChatTurn,
    key: str,
    references: tuple[str, ...],
    answered_by: str | None = None,
) -> Case:
    """A turn as a case. answered_by: with the turns before, as this endpoint had answered them."""
    before = tuple(one for one in transcript.turns if one.number < turn.number)
    earlier = Transcript(transcript.chat, before if answered_by is not None else ())
    messages = earlier.conversation(answered_by or "", turn.prompt)
    is_alone = len(messages) == 1
    return Case(
        key=clean_text(key.strip()),
        prompt=turn.prompt if is_alone else None,
        messages=() if is_alone else messages,
        references=tuple(clean_text(text) for text in references if text.strip()),
        source=SOURCE,
    )


def own_suites(folder: Path) -> list[str]:
    """The suites that a case can be added to."""
    home = folder / HOME
    return [
        name
        for name, path in list_suites(folder).items()
        if path.parent == home and not _is_shipped(path) and (path / CASES).is_file()
    ]


def add_case(folder: Path, suite_name: str, case: Case) -> Path:
    """Add a case to a suite in folder's datasets/; the file it stands in.

    All or nothing: the suite is read with the new case before the file is replaced. Raises
    InputError where the suite is not one's own, and ProblemsError where the case has a key
    that is there already, or is wrong in another way.
    """
    home = _own_folder(folder, suite_name)
    path = home / CASES
    if not path.is_file():
        raise InputError(
            f"suite {suite_name} keeps its cases in another file than {CASES}; add the case "
            "there by hand, or choose another suite"
        )
    before = read_suite(home)
    content = read_bytes(path)
    line = json.dumps(case_values(case), ensure_ascii=False)
    extended = content + (b"" if content.endswith(b"\n") else b"\n") + line.encode() + b"\n"
    with _told(path), tempfile.TemporaryDirectory() as scratch:
        trial = Path(scratch, HOME, suite_name)
        trial.mkdir(parents=True)
        shutil.copyfile(home / HEAD, trial / HEAD)
        (trial / CASES).write_bytes(extended)
        if read_suite(trial).cases != (*before.cases, case):
            raise InputError(f"{path}: the case would not be read as it is; nothing was changed")
        if read_bytes(path) != content:
            raise InputError(f"{path} was changed just now by another program; try again")
        _replace(path, extended)
    return path


def add_suite(folder: Path, name: str, title: str, task: Task, rubric: str, case: Case) -> Path:
    """Write a new suite of one case into folder's datasets/; the file the case stands in.

    Raises InputError where a suite or folder of this name is there, and ProblemsError where
    what would be written could not be read.
    """
    name = name.strip()
    if not NAME.fullmatch(name):
        raise InputError(f"a suite cannot be called {shown(name)}; give {NAME_WORDS}")
    target = folder / HOME / name
    if name in list_suites(folder) or target.exists():
        raise InputError(f"there is a suite {name} already; choose it from the list")
    _refuse_shipped(target, name)
    find_rubric(rubric, folder)
    suite = Suite(name, title.strip() or name, task, rubric, (case,), Language())
    with _told(target):
        target.parent.mkdir(exist_ok=True)
        # Made beside its place, then moved there whole.
        with tempfile.TemporaryDirectory(prefix=".evalbot-", dir=folder) as scratch:
            made = Path(scratch, HOME, name)
            write_suite(suite, made)
            if read_suite(made) != suite:
                raise InputError("the suite would not be read as it is; nothing was changed")
            made.rename(target)
    return target / CASES


def _own_folder(folder: Path, suite_name: str) -> Path:
    home = folder / HOME / suite_name
    if not NAME.fullmatch(suite_name) or not (home / HEAD).is_file():
        raise InputError(
            f"there is no suite {shown(suite_name)} in {folder / HOME}; choose one of your own, "
            "or write a new one"
        )
    _refuse_shipped(home, suite_name)
    return home


def _refuse_shipped(home: Path, name: str) -> None:
    if _is_shipped(home):
        raise InputError(
            f"suite {name} would stand among those that come with evalbot, which never change; "
            "serve with a config in a folder of your own"
        )


def _is_shipped(home: Path) -> bool:
    return (shipped_folder() / HOME).resolve() in home.resolve().parents


def _replace(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EvalbotError(
            f"{path} could not be written ({error.strerror}); nothing was changed"
        ) from error
