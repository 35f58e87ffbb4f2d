"""Reading a file's text."""

from __future__ import annotations

from pathlib import Path

from evalbot.errors import InputError, NotFoundError
from evalbot.formats.problems import Problems


def read_bytes(path: Path) -> bytes:
    """The file's content. NotFoundError where there is none, InputError where it is unreadable."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def read_text(path: Path, file: str, problems: Problems) -> str | None:
    """UTF-8 text without its BOM; None, with a problem noted, where it is in another encoding."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x}, which is not UTF-8"
        problems.add(f"{file}:{line}", "", found, "a text saved as UTF-8")
        return None


def text_of(path: Path, file: str, problems: Problems) -> str | None:
    """The same for one of several files: that it cannot be read is a problem like any other."""
    try:
        return read_text(path, file, problems)
    except NotFoundError:
        problems.add(file, "", "no such file", "a file that can be read")
        return None
    except InputError as error:
        problems.add(file, "", str(error), "a file that can be read")
        return None
