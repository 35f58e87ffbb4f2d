"""SHA256SUMS: written over a folder, and held against it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from evalbot.errors import NotFoundError
from evalbot.formats.problems import Problems, shown
from evalbot.formats.textfile import read_bytes, read_text

NAME = "SHA256SUMS"
_LINE = re.compile(r"(?P<sum>[0-9a-f]{64}) [ *](?P<path>[^\\]+)")


def write_sums(folder: Path) -> None:
    """Write the sums of all files in the folder, in the format of `sha256sum`."""
    paths = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    lines = [f"{_sum(folder / path)}  {path}\n" for path in paths]
    (folder / NAME).write_text("".join(lines), encoding="utf-8", newline="\n")


def check_sums(folder: Path, needed: Iterable[str], allowed: Iterable[str] = ()) -> None:
    """See that the folder holds all files needed and no others than those and the allowed,
    each listed, each as it was written.

    Raises NotFoundError where there is no list, and ProblemsError with all that is wrong.
    Nothing outside the folder is looked at: no `..`, no absolute path, no symbolic link.
    """
    if not (folder / NAME).is_file():
        raise NotFoundError(f"{folder} holds no export: there is no {NAME} in it")
    problems = Problems()
    wanted = sorted(needed)
    known = sorted({*wanted, *allowed})
    listed = _read_list(folder, problems)
    present = _files(folder, problems)
    for path in listed:
        if path not in present:
            problems.add(path, "", "no file", f"the file that {NAME} lists")
        elif path not in known:
            problems.add(path, "", "a file no export has", f"only {', '.join(known)}")
        elif (found := _sum(folder / path)) != listed[path]:
            expected = f"the sum that {NAME} lists, {listed[path][:12]}…"
            problems.add(path, "", f"another content (sum {found[:12]}…)", expected)
    for path in sorted(present - set(listed)):
        problems.add(path, "", f"a file that {NAME} does not list", "only files it lists")
    for path in wanted:
        if path not in listed:
            problems.add(NAME, "", f"no line for {path}", "one, as every export has")
    problems.raise_if_any()


def _read_list(folder: Path, problems: Problems) -> dict[str, str]:
    listed: dict[str, str] = {}
    if (folder / NAME).is_symlink():
        return listed  # noted with the other links
    lines = (read_text(folder / NAME, NAME, problems) or "").split("\n")
    for number, line in enumerate(lines, start=1):
        place = f"{NAME}:{number}"
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.add(place, "", shown(line), "a SHA-256 sum, two spaces and a path")
        elif not _stays_inside(match["path"]):
            problems.add(place, "", shown(match["path"]), "a path inside the folder")
        elif match["path"] in listed:
            problems.add(place, "", f"{shown(match['path'])} twice", "each file once")
        else:
            listed[match["path"]] = match["sum"]
    return listed


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return path == "/".join(parts) and ".." not in parts and parts[0] != "/" and path != NAME


def _files(folder: Path, problems: Problems) -> set[str]:
    """All files but the list itself; links and other things that are no files are noted."""
    found = set()
    for home, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(home) / name
            inside = path.relative_to(folder).as_posix()
            if path.is_symlink():
                problems.add(inside, "", "a symbolic link", "a file")
            elif name in files and not path.is_file():
                problems.add(inside, "", "no ordinary file", "a file")
            elif name in files and inside != NAME:
                found.add(inside)
    return found


def _sum(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
