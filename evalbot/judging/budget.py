"""A ceiling of cost that calls in flight cannot break through."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """USD, of all judges together. limit None: no ceiling. spent: of what has come back.

    is_used_up: something was not done for want of money.
    """

    limit: float | None = None
    spent: float = 0.0
    is_used_up: bool = False
    _reserved: list[float] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def reserve(self, most: float) -> bool:
        """Set aside what a call may cost at most; False where it cannot be afforded.

        Waits for calls in flight, which mostly cost less than was set aside for them.
        """
        while not self.can_afford(most):
            if not self._reserved:
                self.is_used_up = True
                return False
            self._changed.clear()
            await self._changed.wait()
        self.reserve_anyway(most)
        return True

    def can_afford(self, most: float) -> bool:
        """Whether so much is left besides what is in flight."""
        return self.limit is None or self.spent + sum(self._reserved) + most <= self.limit

    def reserve_anyway(self, most: float) -> None:
        """Set aside for what is on its way already."""
        self._reserved.append(most)

    def settle(self, most: float, cost: float | None) -> None:
        """A call is back; under a ceiling, an unknown cost counts with what was set aside."""
        self._reserved.remove(most)
        self.spent += (most if self.limit is not None else 0.0) if cost is None else cost
        self._changed.set()
