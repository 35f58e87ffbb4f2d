"""Writing to a database that another program keeps locked for a while."""

from __future__ import annotations

from collections.abc import Callable

from evalbot.errors import BusyError

MOST_WAITS = 4
"""How often a locked database is waited for, beyond the first time; each wait is half a minute."""


def patiently(save: Callable[[], None]) -> None:
    """Do it, again where the database is locked: what was measured is not thrown away.

    Raises BusyError where it stays locked through all waits.
    """
    for _ in range(MOST_WAITS):
        try:
            save()
        except BusyError:
            continue
        return
    save()
