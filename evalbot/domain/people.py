"""People who sign in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """A reviewer grades blind; a lead sees everything, draws reviews and decides."""

    REVIEWER = "reviewer"
    LEAD = "lead"


@dataclass(frozen=True, slots=True)
class User:
    """One person. The name is also that of the grader whose grades they give."""

    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None = None

    @property
    def is_disabled(self) -> bool:
        """Whether they may not sign in, and their open pages are refused."""
        return self.disabled_at is not None
