"""When something is said: after all that it is meant to replace, also where a clock was set back.

Of two grades the later one counts. A change that was dated before what it changes would be on the
reviewer's page, and in no table.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

TICK = timedelta(microseconds=1)


def now_after(earlier: Iterable[datetime | None]) -> datetime:
    """Now, or just after the newest of these where a clock puts them into the future."""
    return max([datetime.now(UTC), *(at + TICK for at in earlier if at is not None)])
