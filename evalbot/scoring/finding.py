"""What a scorer hands back, and the shape of every scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evalbot.scoring.forms import Form, PreparedCase, Target


class Readings(NamedTuple):
    """An answer as it stands, and without its wrapper where it has one (else the same)."""

    whole: Form
    bare: Form

    @property
    def each(self) -> tuple[Form, ...]:
        """The readings to try, the bare one first."""
        return (self.bare,) if self.bare is self.whole else (self.bare, self.whole)


class Finding(NamedTuple):
    """verdict None: left to a judge or a person.

    nearest: the text of the case it rests on; reading: the answer as it was read for that;
    ratio: 0 to 100; differences: caps that apply, deciding or not; capped: those that decided.
    """

    verdict: str | None
    nearest: Target | None = None
    reading: Form | None = None
    ratio: float | None = None
    differences: tuple[str, ...] = ()
    capped: tuple[str, ...] = ()


Scoring = Callable[[PreparedCase, Readings], Finding]
