"""What the reviewer's page sends, checked, and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbot.domain.people import User
from evalbot.domain.reviewing import Draft
from evalbot.errors import InputError
from evalbot.reviewing import handing_on, submitting
from evalbot.reviewing.submitting import Said
from evalbot.store.database import Database

UNREADABLE = "this page sent something that it cannot have sent; load it again"
MOST_TICKS = 20_000


class Actions:
    """Does what a page asks for; raises EvalbotError where it may not be done.

    folder: where evalbot.yaml lies, for those who ask for more to grade.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder

    def act(self, user: User, action: Mapping[str, Any]) -> None:
        """One action by its name."""
        do = action.get("do")
        database = self._database
        match do:
            case "grade":
                verdict = action.get("verdict")
                if verdict is not None and not isinstance(verdict, str):
                    raise InputError(UNREADABLE)
                said = Said(verdict, _text(action, "comment", ""), _ticked(action))
                submitting.grade(database, user, _text(action, "id"), said, _text(action, "token"))
            case "undo":
                submitting.undo(
                    database, user, _text(action, "campaign"), _text(action, "token"),
                    _text(action, "last"),
                )  # fmt: skip
            case "keep":
                submitting.keep(
                    database, user, _text(action, "campaign"), _number(action, "item"),
                    _text(action, "token"),
                )  # fmt: skip
            case "go_on":
                submitting.go_on(database, user, _text(action, "campaign"), _number(action, "item"))
            case "back" | "forward":
                submitting.move(
                    database, user, _text(action, "campaign"), _number(action, "item"),
                    back=do == "back",
                )  # fmt: skip
            case "choose":
                submitting.choose(database, user, _text(action, "campaign"))
            case "look_back":
                submitting.look_back(database, user, _text(action, "campaign"))
            case "volunteer":
                handing_on.volunteer(database, _text(action, "campaign"), user, self._folder)
            case "draft":
                draft = Draft(_text(action, "comment", ""), _ticked(action))
                submitting.save_draft(database, user, _text(action, "id"), draft)
            case "show" | "whole":
                pass
            case _:
                raise InputError(UNREADABLE)


def whole_of(action: Mapping[str, Any]) -> Sequence[str]:
    """The answers that a page has unfolded."""
    value = action.get("whole")
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _text(action: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    value = action.get(name, otherwise)
    if not isinstance(value, str):
        raise InputError(UNREADABLE)
    return value


def _number(action: Mapping[str, Any], name: str) -> int:
    value = action.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**31 - 2:
        raise InputError(UNREADABLE)
    return value


def _ticked(action: Mapping[str, Any]) -> tuple[str, ...]:
    value = action.get("ticked", [])
    if not isinstance(value, list) or len(value) > MOST_TICKS:
        raise InputError(UNREADABLE)
    if not all(isinstance(one, str) for one in value):
        raise InputError(UNREADABLE)
    return tuple(value)
