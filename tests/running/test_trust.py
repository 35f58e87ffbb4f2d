from __future__ import annotations

from pathlib import Path

import pytest

from evalbot.errors import EvalbotError
from evalbot.running.trust import confirm, state_file, unconfirmed

START, STOP = ("./start.sh", "qwen"), ("./stop.sh",)
COMMANDS = [START, STOP, STOP]


def test_each_command_is_shown_once_until_it_is_confirmed(tmp_path: Path) -> None:
    state = tmp_path / "deep/state.json"
    assert unconfirmed(COMMANDS, tmp_path, state) == [START, STOP]
    confirm([START], tmp_path, state)
    assert unconfirmed(COMMANDS, tmp_path, state) == [STOP]
    confirm([STOP], tmp_path, state)
    assert unconfirmed(COMMANDS, tmp_path, state) == []


def test_another_command_or_another_folder_is_shown_again(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    confirm([START, STOP], tmp_path, state)
    assert unconfirmed([(*START, "--more"), STOP], tmp_path, state) == [(*START, "--more")]
    assert unconfirmed(COMMANDS, tmp_path / "elsewhere", state) == [START, STOP]


@pytest.mark.parametrize("content", ["", "{", "5", '{"a": 1}', "[[1]]", '"x"', "\xff"])
def test_a_broken_memory_confirms_nothing(content: str, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(content, encoding="latin-1")
    assert unconfirmed(COMMANDS, tmp_path, state) == [START, STOP]
    confirm([START], tmp_path, state)
    assert unconfirmed(COMMANDS, tmp_path, state) == [STOP]


def test_a_memory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvalbotError, match="set XDG_STATE_HOME"):
        confirm([START], tmp_path, tmp_path / "file/state.json")


def test_the_memory_lies_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_file() == tmp_path / "evalbot/commands.json"
