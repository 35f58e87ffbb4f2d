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
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def reserve(self, most: float) -> bool:
        """Set aside what a call may cost at most; False where it cannot be afforded.

        Waits for calls in flight, which mostly cost less than was set aside for them.
        """
        while self.limit is not None and self.spent + sum(self._reserved) + most > self.limit:
            if not self._reserved:
                self.is_used_up = True
                return False
            self._changed.clear()
            await self._changed.wait()
        self._reserved.append(most)
        return True

    def settle(self, most: float, cost: float | None) -> None:
        """A call is back; under a ceiling, an unknown cost counts with what was set aside."""
        self._reserved.remove(most)
        self.spent += (most if self.limit is not None else 0.0) if cost is None else cost
        self._changed.set()
