"""Commands in a config are shown once before they first run on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from evalbot.errors import EvalbotError
from evalbot.fingerprint import fingerprint


def unconfirmed(
    commands: Sequence[tuple[str, ...]], folder: Path, state: Path | None = None
) -> list[tuple[str, ...]]:
    """Those of the commands, each once, that nobody has confirmed here yet."""
    known = _confirmed(state or state_file())
    return [command for command in dict.fromkeys(commands) if _name(command, folder) not in known]


def confirm(commands: Sequence[tuple[str, ...]], folder: Path, state: Path | None = None) -> None:
    """Remember that these commands may run, in this folder, on this machine."""
    path = state or state_file()
    known = _confirmed(path) | {_name(command, folder) for command in commands}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(sorted(known)), encoding="utf-8")
    except OSError as error:
        raise EvalbotError(
            f"the confirmation could not be kept in {path} ({error}); make that place writable, "
            "or set XDG_STATE_HOME to another one"
        ) from error


def state_file() -> Path:
    """Outside the project's folder: a config or database from elsewhere cannot bring it along."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local/state") / "evalbot/commands.json"


def _confirmed(path: Path) -> set[str]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {name for name in kept if isinstance(name, str)} if isinstance(kept, list) else set()


def _name(command: Sequence[str], folder: Path) -> str:
    return fingerprint([str(folder.resolve()), *command])
