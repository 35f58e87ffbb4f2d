"""A ceiling of cost that calls in flight cannot break through."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """USD. limit None: no ceiling. spent: of what has come back."""

    limit: float | None = None
    spent: float = 0.0
    is_used_up: bool = False
    _reserved: list[float] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def reserve(self, most: float) -> bool:
        """Set aside what a call may cost at most; False where it cannot be afforded.

        Waits for calls in flight, which mostly cost less than was set aside for them.
        """
        if self.limit is None:
            return True
        async with self._changed:
            while self.spent + sum(self._reserved) + most > self.limit:
                if not self._reserved:
                    self.is_used_up = True
                    return False
                await self._changed.wait()
            self._reserved.append(most)
            return True

    async def settle(self, most: float, cost: float | None) -> None:
        """A call is back; one whose cost is not known counts with what was set aside."""
        if self.limit is None:
            self.spent += cost or 0.0
            return
        async with self._changed:
            self._reserved.remove(most)
            self.spent += most if cost is None else cost
            self._changed.notify_all()
